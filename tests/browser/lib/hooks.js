// Runs in the page before its own scripts: notes what is asked of the engine and of the server, so that a test can
// wait until everything asked for is answered. Changes nothing that the page can notice.

(() => {
  const lab = { workers: [], owed: 0, fetching: 0, errors: [], replies: 0, delay: 0 };
  window.__lab = lab;
  /** First byte of a reply's head: progress ends no job, a cancel ends all, every other one ends one. */
  const [PROGRESS, CANCELLED] = [1, 7];

  const NativeWorker = window.Worker;
  window.Worker = class Worker extends NativeWorker {
    constructor(...args) {
      super(...args);
      lab.workers.push(this);
      lab.owed = 0;
      this.addEventListener('message', ({ data }) => {
        if (data?.panic !== undefined || data?.failed !== undefined) lab.owed = 0;
        if (data?.head !== undefined && data.head[0] !== PROGRESS) {
          lab.owed = data.head[0] === CANCELLED ? 0 : Math.max(0, lab.owed - 1);
          lab.replies += 1;
        }
      });
    }

    postMessage(message, ...rest) {
      if (message?.head !== undefined) lab.owed += 1;
      super.postMessage(message, ...rest);
    }
  };

  const nativeFetch = window.fetch;
  window.fetch = (...args) => {
    lab.fetching += 1;
    const done = () => (lab.fetching -= 1);
    const answer = nativeFetch.apply(window, args);
    answer.then((response) => response.clone().arrayBuffer()).then(done, done);
    return answer;
  };

  // Not every driver has the console's log.
  const nativeError = console.error;
  let aside = false;
  console.error = (...words) => {
    if (!aside) lab.errors.push(`console: ${words.map(String).join(' ')}`);
    nativeError.apply(console, words);
  };
  /** Does something whose words on the console are no error of the page's. */
  lab.aside = (what) => {
    aside = true;
    what();
    aside = false;
    return true;
  };

  window.addEventListener('error', (event) => lab.errors.push(`error: ${event.message}`));
  window.addEventListener('unhandledrejection', (event) => lab.errors.push(`rejected: ${event.reason}`));

  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));

  /** Views that follow the picture a frame later say so. */
  const behind = () => document.querySelector('[aria-busy="true"]') !== null;

  /** Resolves when nothing is owed over two frames in a row; to "late" after `patience` ms. */
  lab.settled = async (patience = 45_000) => {
    const end = performance.now() + patience;
    for (let quiet = 0; quiet < 2; ) {
      await frame();
      quiet = lab.owed === 0 && lab.fetching === 0 && !behind() ? quiet + 1 : 0;
      if (performance.now() > end) return `late: ${lab.owed} owed by the engine, ${lab.fetching} by the server`;
    }
    return 'settled';
  };

  /** A turn of the event loop: what a click changes is in the document by then, though not yet drawn. */
  const turn = () => new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(0);
  });

  /** The exact numbers of a matrix from the dialog "Numbers as a table", all its pages. */
  lab.table = async (id) => {
    const find = (selector) => document.querySelector(selector);
    // The event of an earlier closing may still be on its way and close it once more.
    for (let tries = 0; tries < 20; tries += 1) {
      if (!find('[data-name="table-matrix"]')) find('[data-name="tables"]').click();
      await frame();
      await frame();
      if (find('[data-name="table-matrix"]')) break;
    }
    const select = find('[data-name="table-matrix"]');
    if (!select) return 'the dialog with the table does not open';
    if (select.value !== id) {
      select.value = id;
      select.dispatchEvent(new Event('change', { bubbles: true }));
      await turn();
    }
    const rows = [];
    const read = () => {
      for (const cell of document.querySelectorAll(`table[data-table="${id}"] [data-table-cell]`)) {
        const [row, col] = cell.dataset.tableCell.split(',').map(Number);
        rows[row] ??= [];
        rows[row][col] = { value: Number(cell.dataset.value), state: cell.dataset.state ?? '', text: cell.textContent };
      }
    };
    const on = async (axis) => {
      const button = find(`[data-name="table-${axis}-on"]`);
      if (!button || button.ariaDisabled === 'true') return false;
      button.click();
      await turn();
      return true;
    };
    const first = async (axis) => {
      for (let back; (back = find(`[data-name="table-${axis}-back"]`)) && back.ariaDisabled !== 'true'; ) {
        back.click();
        await turn();
      }
    };
    do {
      do read();
      while (await on('cols'));
      await first('cols');
    } while (await on('rows'));
    await first('rows');
    return rows;
  };
})();
