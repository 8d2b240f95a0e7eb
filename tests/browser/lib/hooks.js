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

  /** The numbers of the dialog's matrix as it would be copied; null where that cannot be read. */
  const copied = async () => {
    const { clipboard } = navigator;
    if (!clipboard) return null;
    let text = '';
    clipboard.writeText = async (words) => {
      text = words;
    };
    document.querySelector('[data-name="table-copy"]').click();
    await turn();
    delete clipboard.writeText;
    const [names, ...lines] = text.trimEnd().split('\n');
    const cols = names.split(',').length - 1;
    const number = (word) => Number(word.replace('inf', 'Infinity'));
    return lines.map((line) => line.split(',').slice(-cols).map((word) => ({ value: number(word) })));
  };

  /**
   * The exact numbers of a matrix from the dialog "Numbers as a table", all its pages; `plain`: without what else is
   * said of each cell, so that one of many pages may be read as it is copied.
   */
  lab.table = async (id, plain = false) => {
    const find = (selector) => document.querySelector(selector);
    // The event of an earlier closing may still be on its way and close it once more.
    for (let tries = 0; tries < 20 && !find('[data-name="table-matrix"]'); tries += 1) {
      find('[data-name="tables"]').click();
      await frame();
      await frame();
    }
    const select = find('[data-name="table-matrix"]');
    if (!select) return 'the dialog with the table does not open';
    if (select.value !== id) {
      select.value = id;
      select.dispatchEvent(new Event('change', { bubbles: true }));
      await turn();
    }
    const paged = find('[data-name="table-rows"], [data-name="table-cols"]');
    const whole = plain && paged ? await copied() : null;
    if (whole?.length) return whole;
    const rows = [];
    const read = () => {
      for (const cell of document.querySelectorAll(`table[data-table="${id}"] [data-table-cell]`)) {
        const [row, col] = cell.dataset.tableCell.split(',').map(Number);
        rows[row] ??= [];
        rows[row][col] = { value: Number(cell.dataset.value), state: cell.dataset.state ?? '', text: cell.textContent };
      }
    };
    /** Presses a button of the pages; whether it leads anywhere. */
    const step = async (axis, way) => {
      const button = find(`[data-name="table-${axis}-${way}"]`);
      if (!button || button.ariaDisabled === 'true') return false;
      button.click();
      await turn();
      return true;
    };
    // Cells that are only read need not be laid out.
    const cells = find('.tables-cells');
    cells.style.display = 'none';
    for (const axis of ['cols', 'rows']) while (await step(axis, 'back'));
    // To and fro, so that no page is made twice.
    let way = 'on';
    do {
      do read();
      while (await step('cols', way));
      way = way === 'on' ? 'back' : 'on';
    } while (await step('rows', 'on'));
    for (const axis of ['cols', 'rows']) while (await step(axis, 'back'));
    cells.style.display = '';
    return rows;
  };
})();
