// The messages between a lab in a frame and the page around it, version 1, and who is not listened to.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { host } from './lib/host.mjs';

const FRAGMENT = 'v=1&embed=1&show=stage&src=random(7,1)&h=1&g=1&nq=6&nk=6&dk=4&dv=4&scale=2';
const FRAME = `<iframe id="lab" src="LAB/#${FRAGMENT}" title="A head" width="700" height="420"></iframe>`;

/** A page with a lab in a plain iframe, and hands that speak the protocol. `more` stands after the frame. */
async function plain(more = '') {
  const page = await host(`${FRAME}${more}`, { head: '' });
  await page.run(() => {
    const frame = document.getElementById('lab');
    window.heard = [];
    window.addEventListener('message', ({ source, origin, data }) => {
      if (source === frame.contentWindow) window.heard.push({ ...data, origin });
    });
    window.say = (message) => frame.contentWindow.postMessage(message, '*');
  });
  return page;
}

/** Says hello until the lab answers with `ready`. */
const greet = (page) =>
  page.run(() =>
    until(() => {
      if (!window.heard.some(({ type }) => type === 'ready')) window.say({ attentionLab: 1, type: 'hello' });
      return window.heard.find(({ type }) => type === 'ready');
    }, 'ready'),
  );

/** Sends one message and gives the next that comes for it. */
const ask = (page, message) =>
  page.run(async (sent) => {
    const from = window.heard.length;
    window.say(sent);
    return until(() => window.heard.slice(from).find(({ type, id }) => (sent.id === undefined ? type === 'error' : id === sent.id)), 'an answer');
  }, message);

describe('the lab', () => {
  test('tells nothing but its height before hello, and then its state to that origin', async () => {
    const page = await plain();
    await page.run(() => until(() => window.heard.some(({ type }) => type === 'height'), 'a height'));
    const before = await page.run(() => window.heard.map(({ type }) => type));
    assert.ok(before.every((type) => ['hello', 'height'].includes(type)), before.join(' '));
    assert.match((await ask(page, { attentionLab: 1, type: 'get', id: 'early' })).error, /expected hello first/);
    const ready = await greet(page);
    assert.equal(ready.attentionLab, 1);
    assert.ok(ready.link.includes('scale=2'), ready.link);
    assert.equal(typeof ready.reads, 'object');
  });

  test('answers get, set, open, png and data', async () => {
    const page = await plain();
    await greet(page);
    const set = await ask(page, { attentionLab: 1, type: 'set', id: 1, link: 'scale=3&mask=causal' });
    assert.equal(set.ok, true);
    assert.match(set.value.link, /mask=causal/);
    const shown = await ask(page, { attentionLab: 1, type: 'set', id: 6, link: '#mask=&show=weights' });
    assert.doesNotMatch(shown.value.link, /mask=|show=/);
    assert.equal(shown.value.problems.length, 1);
    assert.match(shown.value.problems[0], /^show: expected a change of numbers or options, got “weights”/);
    const open = await ask(page, { attentionLab: 1, type: 'open', id: 2, link: `#${FRAGMENT.replace('scale=2', 'scale=9')}` });
    assert.match(open.value.link, /scale=9/);
    assert.doesNotMatch(open.value.link, /mask=/);
    const get = await ask(page, { attentionLab: 1, type: 'get', id: 3 });
    assert.equal(get.value.link, open.value.link);
    const png = await page.run(async () => {
      window.say({ attentionLab: 1, type: 'png', id: 4 });
      const { value } = await until(() => window.heard.find(({ id }) => id === 4), 'a picture');
      return [value.type, value.bytes.byteLength, [...new Uint8Array(value.bytes.slice(1, 4))], value.width];
    });
    assert.deepEqual([png[0], ...png[2]], ['image/png', 80, 78, 71]);
    assert.ok(png[1] > 2000 && png[3] > 200, png.join(' '));
    const kinds = await page.run(async () => {
      window.say({ attentionLab: 1, type: 'data', id: 5 });
      const { value } = await until(() => window.heard.find(({ id }) => id === 5), 'numbers');
      return [Object.prototype.toString.call(value.weights), value.weights.length];
    });
    assert.deepEqual(kinds, ['[object Float64Array]', 36]);
  });

  test('answers another version, an unknown type and a wrong value with a sentence', async () => {
    const page = await plain();
    await greet(page);
    assert.match((await ask(page, { attentionLab: 2, type: 'get' })).message, /expected version 1, got 2/);
    assert.match((await ask(page, { attentionLab: 2, type: 'get', id: 10 })).error, /expected version 1, got 2.*Load embed\.js/);
    assert.match((await ask(page, { attentionLab: 1, type: 'dance', id: 11 })).error, /expected the type hello, get.*got “dance”/);
    assert.match((await ask(page, { attentionLab: 1, type: 'constructor', id: 12 })).error, /got “constructor”/);
    assert.match((await ask(page, { attentionLab: 1, type: 'set', id: 13, link: { scale: 1 } })).error, /link: expected text .*got object/);
    const broken = await ask(page, { attentionLab: 1, type: 'set', id: 14, link: 'cap=%00%ff&q=&=&&&mask=causal(' });
    assert.equal(broken.ok, true);
    assert.ok(broken.value.problems.some((said) => /mask.*expected/.test(said)), broken.value.problems.join(' | '));
    assert.ok(broken.value.problems.some((said) => /cap.*expected/.test(said)), broken.value.problems.join(' | '));
    assert.match((await ask(page, { attentionLab: 1, type: 'get', id: 15 })).value.link, /scale=2/);
  });

  test('does not listen to a window that is not around it', async () => {
    const page = await plain('<iframe id="other" src="about:blank" title="another"></iframe>');
    await greet(page);
    const before = await ask(page, { attentionLab: 1, type: 'get', id: 20 });
    await page.run(async () => {
      // The neighbour's own postMessage: the message comes from its window.
      const other = document.getElementById('other').contentWindow;
      const script = other.document.createElement('script');
      script.textContent = "for (const m of [{ type: 'hello' }, { type: 'set', id: 21, link: 'scale=8' }, { type: 'png', id: 22 }]) parent.frames[0].postMessage({ attentionLab: 1, ...m }, '*');"
        + "window.got = []; addEventListener('message', (e) => window.got.push(e.data));";
      other.document.body.append(script);
      await new Promise((resolve) => setTimeout(resolve, 600));
      if (other.got.length) throw new Error(`the neighbour was answered: ${JSON.stringify(other.got)}`);
    });
    assert.equal((await ask(page, { attentionLab: 1, type: 'get', id: 23 })).value.link, before.value.link);
    assert.equal(await page.run(() => window.heard.some(({ id }) => id === 21 || id === 22)), false);
  });
});

describe('embed.js', () => {
  test('does not listen to another window or its own', async () => {
    const page = await host(`<attention-lab source="random(7,1)" nq="6" nk="6" dk="4" dv="4" show="stage"></attention-lab>
      <iframe id="other" src="about:blank" title="another"></iframe>`);
    await page.ready();
    await page.follows();
    const found = await page.run(async () => {
      const [height, events] = [lab.offsetHeight, []];
      for (const type of ['ready', 'change', 'error']) lab.addEventListener(type, () => events.push(type));
      const forged = [{ type: 'height', height: 5000 }, { type: 'error', message: 'forged' }, { type: 'change', link: 'v=1&scale=99', reads: {} }];
      for (const message of forged) window.postMessage({ attentionLab: 1, ...message }, '*');
      const other = document.getElementById('other').contentWindow;
      const script = other.document.createElement('script');
      script.textContent = `for (const m of ${JSON.stringify(forged)}) parent.postMessage({ attentionLab: 1, ...m }, '*');`;
      other.document.body.append(script);
      await new Promise((resolve) => setTimeout(resolve, 400));
      return { events, still: lab.offsetHeight === height, link: (await lab.get()).link };
    });
    assert.deepEqual(found.events, []);
    assert.equal(found.still, true);
    assert.doesNotMatch(found.link, /scale=99/);
  });

  test('says what is wrong where the lab speaks another version or the address leads elsewhere', async () => {
    const page = await host('');
    const said = await page.run(async (lab) => {
      const element = document.createElement('attention-lab');
      element.setAttribute('from', `${lab}/www/text/`);
      element.setAttribute('loading', 'eager');
      document.body.append(element);
      const frame = element.shadowRoot.querySelector('iframe');
      const seen = [];
      element.addEventListener('error', ({ detail }) => seen.push(detail.message));
      const speak = (origin, data) => window.dispatchEvent(new MessageEvent('message', { source: frame.contentWindow, origin, data }));
      speak(new URL(lab).origin, { attentionLab: 2, type: 'hello' });
      speak('https://elsewhere.example', { attentionLab: 1, type: 'hello' });
      await until(() => seen.length >= 2, 'two sentences');
      return [seen, element.problems.length];
    }, page.lab);
    assert.match(said[0][0], /expected messages of version 1, got “2”/);
    assert.match(said[0][1], /expected messages from http.*got “https:\/\/elsewhere\.example”.*The address leads elsewhere/);
    assert.equal(said[1], 2);
  });
});
