// Starts the page: Trunk writes the names of its script and its wasm into this script's tag.
const { js, wasm } = document.querySelector("script[data-wasm]").dataset;
const address = (name) => new URL(name, document.baseURI);
/** An embed speaks with the page around it. */
const embedded = window.parent !== window && /^#?(.*&)?embed=1(&|$)/.test(location.hash);
try {
  const [page, around] = await Promise.all([import(address(js)), embedded ? import("./frame.js") : null]);
  await page.default({ module_or_path: address(wasm) });
  around?.frame(page);
} catch (error) {
  // The page's own words are in the wasm that is missing.
  const place = document.getElementById("starting");
  if (place) {
    place.setAttribute("role", "alert");
    place.textContent = `The lab did not start: ${error.message ?? error}. `
      + "It needs a browser with WebAssembly, of 2023 or newer. Reload the page to try again.";
  }
  throw error;
}
