// Runs in a page: what a list of allowed HTML leaves of a text. Elements that are not on the list go and leave their
// text, those of scripts and styles too; attributes, addresses and style properties that are not on it go.

(html, allowed) => {
  const page = new DOMParser().parseFromString(html, 'text/html');
  const clean = (node) => {
    for (const child of [...node.children]) {
      clean(child);
      const attributes = allowed.elements[child.localName];
      if (!attributes) {
        child.replaceWith(...(['script', 'style'].includes(child.localName) ? [] : child.childNodes));
        continue;
      }
      for (const { name, value } of [...child.attributes]) {
        const known = attributes.includes('*') || attributes.includes(name) || allowed.everywhere.includes(name);
        const scheme = /^\s*([a-z][a-z0-9+.-]*):/i.exec(value)?.[1].toLowerCase();
        const reaches = !['src', 'href'].includes(name) || !scheme || allowed.schemes.includes(scheme);
        if (!known || !reaches) child.removeAttribute(name);
      }
      if (child.hasAttribute('style') && !allowed.styles.includes('*')) {
        const kept = child.getAttribute('style').split(';').filter((part) => allowed.styles.includes(part.split(':')[0].trim().toLowerCase()));
        child.setAttribute('style', kept.map((part) => `${part.trim()};`).join(' '));
      }
    }
  };
  clean(page.body);
  const before = new DOMParser().parseFromString(html, 'text/html').body.innerHTML;
  return { before, after: page.body.innerHTML };
}
