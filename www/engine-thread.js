// One thread of the engine's pool: a worker of the worker. See pool.rs in the engine.

self.onmessage = async ({ data: { script, module, memory } }) => {
  try {
    const engine = await import(script);
    await engine.default({ module_or_path: module, memory });
    self.postMessage({ started: true });
    engine.run_thread();
  } catch (error) {
    // After the start nobody listens here: a panic is told over the broadcast channel.
    self.postMessage({ failed: String(error?.message ?? error) });
  }
};
