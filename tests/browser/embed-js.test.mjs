// The element <attention-lab> on a page of another origin, with the built lab in it: attributes, height, events,
// methods, and that it leaves its host alone. The messages themselves: embed-messages.test.mjs.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { host, mirror } from './lib/host.mjs';

/** A small picture that every engine draws in a moment. */
const SMALL = 'source="random(7,1)" h="1" g="1" nq="6" nk="6" dk="4" dv="4" show="stage" controls="scale"';
const has = (link, ...pairs) => {
  for (const pair of pairs) assert.ok(link.split('&').includes(pair), `${pair} in ${link}`);
};
describe('attributes', () => {
  test('become the link, and what is shown', async () => {
    const page = await host(`<attention-lab ${SMALL} mask="causal window(size=3)" scale="0.75" cap="5" hidden-score="-1000" pin="4,1" fixed="mask" locked theme="dark" title="Row 4 &amp; its weights"></attention-lab>`);
    const [{ link, painted }] = await page.ready();
    assert.equal(painted, true);
    has(link, 'src=random(7,1)', 'nq=6', 'nk=6', 'dk=4', 'dv=4', 'mask=causal', 'mask=window(size=3)', 'scale=0.75', 'cap=5', 'hidden=-1000', 'pin=4,1');
    assert.doesNotMatch(link, /embed|show|theme|title/);
    const title = await page.run(() => lab.shadowRoot.querySelector('iframe').title);
    assert.equal(title, 'Row 4 & its weights');
    const inside = await page.inside((web) => web.executeScript(() => ({ theme: document.documentElement.dataset.theme, foot: document.body.innerText })));
    assert.equal(inside.theme, 'dark');
    assert.match(inside.foot, /Row 4 & its weights/);
    assert.deepEqual(await page.run(() => lab.problems), []);
  });

  test('a whole link in src, or what follows its #, with single attributes over it', async () => {
    const fragment = 'v=1&src=random(3,1)&h=1&g=1&nq=5&nk=5&dk=4&dv=4&scale=2';
    const page = await host(`<attention-lab src="LAB/#${fragment}" mask="causal"></attention-lab><attention-lab src="${fragment}" scale="3"></attention-lab>
      <attention-lab src="LAB/#embed=1&show=weights&${fragment}" loading="eager"></attention-lab>`);
    const [whole, part] = await page.ready();
    has(whole.link, 'src=random(3,1)', 'nq=5', 'scale=2', 'mask=causal');
    has(part.link, 'src=random(3,1)', 'nq=5', 'scale=3');
    // As the lab's dialog writes it, with what it shows. A frame that nobody sees computes nothing.
    await page.run(() => document.querySelectorAll('attention-lab')[2].scrollIntoView());
    await page.inside(() => page.waitIn(() => document.querySelector('.bars') && !document.querySelector('.stage')), 2);
  });

  test('with nonsense give a sentence in place and an event, and the rest is used', async () => {
    const page = await host('', {});
    const told = await page.run(async (small) => {
      const box = document.createElement('div');
      box.innerHTML = `<attention-lab ${small} scale="0.5" mask="casual" theme="blue" height="tall" min-hieght="3" norm="1&embed=0"></attention-lab>`;
      const lab = box.firstChild;
      const errors = [];
      lab.addEventListener('error', ({ detail }) => errors.push(detail.message));
      document.body.append(box);
      await once(lab, 'ready');
      await until(() => lab.problems.some((said) => said.includes('casual')), 'the word about the mask');
      return { errors, problems: lab.problems, below: [...lab.shadowRoot.querySelectorAll('p')].map((p) => p.textContent), link: (await lab.get()).link };
    }, SMALL);
    has(told.link, 'scale=0.5', 'nq=6');
    for (const part of [/theme: expected light or dark, got “blue”/, /height: expected pixels .*got “tall”/, /min-hieght: .*min-height/, /norm: expected one value without & and #/]) {
      assert.ok(told.below.some((said) => part.test(said)), `${part} below the picture: ${told.below.join(' | ')}`);
      assert.ok(told.errors.some((said) => part.test(said)), `${part} as an event`);
    }
    assert.ok(told.errors.some((said) => /mask/.test(said) && /casual/.test(said) && /expected/.test(said)), told.errors.join(' | '));
    // The lab says the same to its reader.
    assert.match(await page.inside((web) => web.executeScript('return document.body.innerText')), /casual/);
  });

  test('an address that would run a script is refused', async () => {
    const page = await host('<attention-lab src="javascript:alert(1)#scale=1"></attention-lab>');
    await page.run(() => until(() => lab.problems.length, 'a sentence'));
    const { problems, address } = await page.run(() => ({ problems: lab.problems, address: lab.shadowRoot.querySelector('iframe')?.src ?? '' }));
    assert.match(problems[0], /src: expected an address that starts with https:/);
    assert.doesNotMatch(address, /javascript/);
  });

  test('changed later, they reach the lab without loading it again; what shows loads it with its session', async () => {
    const page = await host(`<attention-lab ${SMALL} scale="0.5"></attention-lab>`);
    await page.ready();
    const mark = () => page.inside((web) => web.executeScript('const was = window.mark; window.mark = true; return was ?? false'));
    assert.equal(await mark(), false);
    const reads = await page.run(async () => {
      const [before, changed] = [(await lab.get()).reads, once(lab, 'change')];
      lab.setAttribute('scale', '4');
      lab.setAttribute('mask', 'causal');
      await changed;
      return [before, await lab.get()];
    });
    has(reads[1].link, 'scale=4', 'mask=causal');
    await page.run(async () => {
      await lab.set({ pin: [3, 0] });
      lab.removeAttribute('scale');
    });
    const later = await page.run(async () => {
      let now;
      await until(() => lab.get().then((state) => (now = state)) && now && !/scale=/.test(now.link), 'the scale of always');
      return now;
    });
    has(later.link, 'mask=causal', 'pin=3,0');
    assert.equal(await mark(), true, 'the same page is in the frame');
    await page.run(async () => {
      const ready = once(lab, 'ready');
      lab.setAttribute('theme', 'dark');
      await ready;
    });
    const [{ link }] = await page.ready();
    has(link, 'mask=causal', 'pin=3,0');
    assert.equal(await page.inside((web) => web.executeScript('return document.documentElement.dataset.theme')), 'dark');
  });
});

describe('an attribute that is taken away', () => {
  test('leaves numbers that no link can carry', async () => {
    const page = await host(`<attention-lab ${SMALL} mask="causal(align=top_left)"></attention-lab>`);
    await page.ready();
    const [before, after, link] = await page.run(async () => {
      const numbers = Array.from({ length: 64 * 64 }, (_, i) => (i % 97) / 100);
      const { problems } = await lab.set({ src: 'typed', h: 1, g: 1, nq: 64, nk: 4, dk: 64, dv: 2, Q: numbers });
      if (problems.length) throw new Error(problems.join(' '));
      const before = [...(await lab.data()).q];
      lab.removeAttribute('mask');
      await until(() => lab.get().then(({ link }) => !/mask=/.test(link)), 'no mask');
      return [before, [...(await lab.data()).q], (await lab.get()).link];
    });
    assert.equal(before.length, 4096);
    assert.ok(before[5] === 0.05 && before[4095] === (4095 % 97) / 100);
    assert.doesNotMatch(link, /Q=0/, 'too many for a link');
    assert.deepEqual(after, before);
  });
});

describe('height', () => {
  test('is kept free before the first picture, then follows the content, also when it changes', async () => {
    const page = await host('<p>above</p>');
    const reserved = await page.run(async (small) => {
      document.body.insertAdjacentHTML('beforeend', `<attention-lab ${small} height="333"></attention-lab><p id="below">below</p>`);
      return document.querySelector('attention-lab').offsetHeight;
    }, SMALL);
    assert.equal(reserved, 333);
    await page.ready();
    const small = await page.follows();
    await page.run(() => lab.set({ nq: 30 }));
    const tall = await page.follows();
    assert.ok(tall > small, `${tall} rows of 30 are higher than ${small} of 6`);
    await page.run(() => lab.set({ nq: 6 }));
    assert.equal(await page.follows(), small, 'and it comes back');
  });

  test('stays within min-height and max-height, and still with resize="none"', async () => {
    const page = await host(`<attention-lab ${SMALL} min-height="1500" loading="eager"></attention-lab>
      <attention-lab ${SMALL} max-height="120" loading="eager"></attention-lab><attention-lab ${SMALL} height="222" resize="none" loading="eager"></attention-lab>`);
    await page.ready('attention-lab:first-of-type');
    await page.run(async () => {
      for (const one of document.querySelectorAll('attention-lab')) {
        one.scrollIntoView();
        if (!(await one.get()).painted) await once(one, 'ready');
      }
    });
    // Heights come as messages of their own.
    await page.run(() => new Promise((resolve) => setTimeout(resolve, 300)));
    assert.deepEqual(await page.run(() => [...document.querySelectorAll('attention-lab')].map((one) => one.offsetHeight)), [1500, 120, 222]);
  });
});

describe('methods', () => {
  test('set, get, png and data', async () => {
    const page = await host(`<attention-lab ${SMALL} title="A head"></attention-lab>`);
    await page.ready();
    const found = await page.run(async () => {
      // The float32 check comes after its picture, and is left out until then.
      const checked = () => until(async () => {
        const now = await lab.get();
        return 'fast_error' in now.reads && now;
      }, 'the float32 check');
      const before = await checked();
      const set = await lab.set({ scale: 3, mask: ['causal'] });
      const after = await checked();
      const data = await lab.data();
      const numbers = Object.fromEntries(Object.entries(data).map(([key, value]) => [key, typeof value === 'number' ? value : [...value].map(String)]));
      const blob = await lab.png({ part: 'stage', density: 2 });
      const image = await createImageBitmap(blob);
      const canvas = Object.assign(document.createElement('canvas'), { width: image.width, height: image.height });
      const ink = canvas.getContext('2d');
      ink.drawImage(image, 0, 0);
      const pixels = ink.getImageData(0, 0, image.width, image.height).data;
      const colours = new Set();
      for (let i = 0; i < pixels.length; i += 4) colours.add(`${pixels[i]},${pixels[i + 1]},${pixels[i + 2]}`);
      return { before, set, after, numbers, png: [blob.type, image.width, image.height, colours.size, String([...pixels.slice(0, 3)])] };
    });
    assert.doesNotMatch(found.before.link, /scale=/);
    assert.deepEqual(found.set.problems, []);
    const { fast_error: late, ...rest } = found.after.reads;
    const { fast_error: soon = late, ...own } = found.set.reads;
    assert.deepEqual(own, rest, 'the answer has the read-outs of its own link');
    assert.equal(soon, late, 'and no check of the picture before');
    assert.notEqual(late, found.before.reads.fast_error);
    has(found.after.link, 'scale=3', 'mask=causal');
    const { numbers } = found;
    assert.deepEqual([numbers.n_q, numbers.n_k, numbers.d_k, numbers.d_v], [6, 6, 4, 4]);
    for (const [name, length] of [['q', 24], ['k', 24], ['v', 24], ['scores', 36], ['masked', 36], ['weights', 36], ['output', 24], ['lse', 6], ['entropy', 6]]) {
      assert.equal(numbers[name].length, length, name);
    }
    const weights = numbers.weights.map(Number);
    for (let i = 0; i < 6; i += 1) {
      const row = weights.slice(6 * i, 6 * i + 6);
      assert.ok(Math.abs(row.reduce((sum, w) => sum + w) - 1) < 1e-12, `row ${i} adds up to 1`);
      assert.ok(row.slice(i + 1).every((w) => w === 0), `row ${i} sees nothing later`);
      // The softmax of what the lab says the scores are.
      const scores = numbers.masked.slice(6 * i, 6 * i + 6).map(Number);
      const sum = scores.reduce((all, s) => all + Math.exp(s), 0);
      for (let j = 0; j < 6; j += 1) assert.ok(Math.abs(row[j] - Math.exp(scores[j]) / sum) < 1e-12, `weight ${i},${j}`);
    }
    const [type, width, height, colours, paper] = found.png;
    assert.equal(type, 'image/png');
    assert.ok(width > 200 && height > 200, `${width} × ${height}`);
    assert.ok(colours > 12, `${colours} colours: cells and words are on it`);
    assert.equal(paper, '255,255,255');
  });

  test('set puts options back, and says what it cannot set', async () => {
    const page = await host(`<attention-lab ${SMALL} mask="causal" scale="0.5" cap="4"></attention-lab>`);
    await page.ready();
    const said = await page.run(async () => {
      const out = [await lab.set({ mask: [], cap: null }), await lab.set('scale=')];
      out.push(await lab.set({ mask: 'window(size=3)', show: 'weights', locked: true }));
      return out.map(({ link, problems }) => ({ link, problems }));
    });
    assert.deepEqual(said.slice(0, 2).map(({ problems }) => problems), [[], []]);
    has(said[0].link, 'scale=0.5');
    assert.doesNotMatch(said[0].link, /mask|cap/);
    assert.doesNotMatch(said[1].link, /mask|cap|scale/);
    has(said[2].link, 'mask=window(size=3)');
    assert.equal(said[2].problems.length, 2);
    assert.match(said[2].problems[0], /^show: expected a change of numbers or options, got “weights”.*changed attribute/);
    assert.match(said[2].problems[1], /^lock: /);
  });

  test('one wrong value is one error', async () => {
    const page = await host(`<attention-lab ${SMALL}></attention-lab>`);
    await page.ready();
    const errors = await page.run(async () => {
      const heard = [];
      lab.addEventListener('error', ({ detail }) => heard.push(detail.message));
      lab.setAttribute('scale', 'wide');
      await until(() => heard.length, 'an error');
      await new Promise((resolve) => setTimeout(resolve, 500));
      return [heard, lab.problems];
    });
    assert.equal(errors[0].length, 1, errors[0].join(' | '));
    assert.match(errors[0][0], /scale.*expected.*wide/);
    assert.deepEqual(errors[1], errors[0]);
  });

  test('a picture of another density is drawn anew, and the page is as before', async () => {
    const page = await host(`<attention-lab ${SMALL}></attention-lab>`);
    await page.ready();
    const canvases = (web) => web.executeScript(() => [...document.querySelectorAll('.stage canvas')].map(({ width, height }) => [width, height]));
    const before = await page.inside(canvases);
    const [differing, sizes] = await page.run(async () => {
      const pixels = async (density, wide, high) => {
        const image = await createImageBitmap(await lab.png({ part: 'stage', title: '', density }));
        const canvas = Object.assign(document.createElement('canvas'), { width: wide ?? image.width, height: high ?? image.height });
        const ink = canvas.getContext('2d');
        ink.drawImage(image, 0, 0, canvas.width, canvas.height);
        return { image, data: ink.getImageData(0, 0, canvas.width, canvas.height).data };
      };
      const fine = await pixels(3);
      const enlarged = await pixels(1, fine.image.width, fine.image.height);
      let other = 0;
      for (let i = 0; i < fine.data.length; i += 4) other += Math.abs(fine.data[i] - enlarged.data[i]) > 40;
      return [other / (fine.data.length / 4), [fine.image.width / enlarged.image.width, fine.image.height / enlarged.image.height]];
    });
    for (const ratio of sizes) assert.ok(Math.abs(ratio - 3) < 0.05, `${sizes}`);
    assert.ok(differing > 0.005, `${differing} of the pixels: letters and edges are finer`);
    assert.deepEqual(await page.inside(canvases), before);
  });

  test('fail with a sentence', async () => {
    const page = await host(`<attention-lab ${SMALL}></attention-lab>`);
    await page.ready();
    const said = await page.run(async () => {
      const sentence = (promise) => promise.then((value) => `no error but ${JSON.stringify(value)}`, (error) => error.message);
      const out = [
        await sentence(lab.png({ part: 'everything' })),
        await sentence(lab.png({ part: 'jacobian' })),
        await sentence(lab.png({ density: 99 })),
        await sentence(lab.set(7)),
        (await lab.set('scale=wide&mask=causal')).problems.join(' '),
        await sentence(lab.get({ timeout: 0 })),
      ];
      const asked = sentence(lab.get());
      lab.remove();
      return [...out, await asked, await sentence(lab.get())];
    });
    const wanted = [/part: expected one of stage/, /no picture: expected a part that is drawn/, /density: expected a number/, /set: expected text such as/, /scale.*expected.*wide/, /get: expected an answer within 0 seconds/, /taken off the page/, /get: expected an element on a page/];
    wanted.forEach((part, i) => assert.match(said[i], part));
  });
});

describe('in its host', () => {
  test('takes no focus and scrolls nothing, also when a reader works in the lab', async () => {
    const page = await host(`<input id="note" value="abc"><div style="height: 1200px"></div><attention-lab ${SMALL} scale="1" height="200"></attention-lab><div style="height: 2000px"></div>`);
    const place = await page.run(async () => {
      document.getElementById('note').focus({ preventScroll: true });
      window.scrollTo(0, 900);
      await once(lab, 'ready');
      await lab.set({ nq: 20, scale: 2 });
      await lab.set({ nq: 6 });
      lab.setAttribute('mask', 'causal');
      await once(lab, 'change');
      return [document.activeElement.id, Math.round(scrollY)];
    });
    assert.deepEqual(place, ['note', 900]);
  });

  test('changes no style of its host and needs none of its own under a strict policy', async () => {
    const lab = (await host('')).lab;
    const policy = `default-src 'none'; script-src ${lab}; frame-src ${lab}`;
    const page = await host('<p id="p">text</p>', { headers: { 'Content-Security-Policy': policy } });
    const found = await page.run(async (small) => {
      const broken = [];
      document.addEventListener('securitypolicyviolation', (event) => broken.push(`${event.violatedDirective} ${event.blockedURI}`));
      const style = () => JSON.stringify(Object.fromEntries([...getComputedStyle(document.getElementById('p'))].map((k) => [k, getComputedStyle(document.getElementById('p'))[k]])));
      const before = [style(), document.styleSheets.length, document.adoptedStyleSheets.length];
      const element = document.createElement('attention-lab');
      for (const [, name, value] of small.matchAll(/(\S+)="(.*?)"/g)) element.setAttribute(name, value);
      document.body.append(element);
      await once(element, 'ready');
      const frame = element.shadowRoot.querySelector('iframe');
      return { broken, same: String(before) === String([style(), document.styleSheets.length, document.adoptedStyleSheets.length]), wide: frame.offsetWidth === element.offsetWidth, border: getComputedStyle(frame).borderTopWidth };
    }, SMALL);
    assert.deepEqual(found, { broken: [], same: true, wide: true, border: '0px' });
  });

  test('ten on one page start when they come near', async () => {
    const page = await host(Array.from({ length: 10 }, (_, i) => `<attention-lab ${SMALL} scale="${i + 1}" height="500"></attention-lab><div style="height: 700px"></div>`).join(''));
    const started = () => page.run(() => [...document.querySelectorAll('attention-lab')].map((one) => Number(one.shadowRoot.querySelector('iframe') !== null)).join(''));
    await page.ready('attention-lab:first-of-type');
    const first = await started();
    assert.match(first, /^1{1,3}0{7,9}$/, 'only those that are near');
    await page.run(async () => {
      for (const one of document.querySelectorAll('attention-lab')) {
        one.scrollIntoView();
        await until(() => one.shadowRoot.querySelector('iframe'), 'the start');
        const { painted } = await one.get();
        if (!painted) throw new Error('there is no picture');
      }
    });
    assert.equal(await started(), '1'.repeat(10));
    for (const [i, { link }] of (await page.ready()).entries()) has(link, `scale=${i + 1}`);
  });

  test('hidden at first, it starts when it is shown; hidden later, it answers and goes on', async () => {
    const page = await host(`<section id="slide" style="display: none"><attention-lab ${SMALL} scale="2"></attention-lab></section>`);
    await page.run(() => new Promise((resolve) => setTimeout(resolve, 400)));
    assert.equal(await page.run(() => lab.shadowRoot.querySelector('iframe')), null);
    await page.run(async () => {
      document.getElementById('slide').style.display = 'block';
      await once(lab, 'ready');
      document.getElementById('slide').style.display = 'none';
      await lab.set({ scale: 5 });
    });
    has((await page.run(() => lab.get())).link, 'scale=5');
    const shown = await page.run(async () => {
      document.getElementById('slide').style.display = 'block';
      await lab.set({ scale: 6 });
      return (await lab.get()).link;
    });
    has(shown, 'scale=6');
    await page.follows();
  });

  test('moved or taken out and put back, it opens with what it showed', async () => {
    const page = await host(`<div id="a"><attention-lab ${SMALL} scale="2"></attention-lab></div><div id="b"></div>`);
    await page.ready();
    const link = await page.run(async () => {
      await lab.set({ scale: 7, pin: [2, 1] });
      const { link } = await lab.get();
      const ready = once(lab, 'ready');
      document.getElementById('b').append(lab);
      await ready;
      const moved = (await lab.get()).link;
      lab.remove();
      if (lab.shadowRoot.querySelector('iframe')) throw new Error('the frame stays behind');
      await new Promise((resolve) => setTimeout(resolve, 100));
      document.getElementById('a').append(lab);
      await once(lab, 'ready');
      return [link, moved, (await lab.get()).link];
    });
    has(link[0], 'scale=7', 'pin=2,1');
    assert.deepEqual(link, [link[0], link[0], link[0]]);
  });

  test('loaded as a module from another origin it finds its lab', async () => {
    const page = await host(`<attention-lab ${SMALL} scale="2"></attention-lab>`, { head: '<script type="module" src="LAB/embed.js"></script>', at: await mirror() });
    const [{ link }] = await page.ready();
    has(link, 'scale=2');
    assert.match(await page.run(() => lab.shadowRoot.querySelector('iframe').src), /\/course\/lab\/#/);
  });

  test('with sandbox the lab runs in an origin of its own and speaks all the same', async () => {
    const page = await host(`<attention-lab ${SMALL} sandbox scale="2"></attention-lab>`, { at: await mirror() });
    const [{ link }] = await page.ready();
    has(link, 'scale=2');
    const found = await page.run(async () => {
      const origins = [];
      window.addEventListener('message', ({ origin }) => origins.push(origin));
      const { painted } = await lab.set({ scale: 3 });
      return [painted, (await lab.data()).n_q, [...new Set(origins)], lab.shadowRoot.querySelector('iframe').sandbox.value];
    });
    assert.deepEqual(found, [true, 6, ['null'], 'allow-scripts allow-popups']);
  });

  test('a lab that does not answer is missed aloud, and a press tries again', async () => {
    let there = false;
    const at = await mirror('lab/', () => there);
    const page = await host(`<attention-lab ${SMALL} from="${at}" scale="2" loading="eager"></attention-lab>`);
    const said = await page.run(async () => {
      const { message } = await once(lab, 'error');
      return [message, lab.shadowRoot.querySelector('[role="status"]').textContent];
    });
    assert.match(said[0], /expected an answer from http.* within 20 seconds, got none\. Check the address and the network, then try again\./);
    assert.ok(said[1].includes(said[0]));
    there = true;
    const link = await page.run(async () => {
      const ready = once(lab, 'ready');
      lab.shadowRoot.querySelector('button').click();
      await ready;
      return [(await lab.get()).link, lab.problems, lab.shadowRoot.querySelector('[role="status"]')];
    });
    has(link[0], 'scale=2');
    assert.deepEqual(link.slice(1), [[], null]);
  });

  test('an address that is corrected before the lab has answered is taken', async () => {
    const away = await mirror('lab/', () => false);
    const page = await host(`<attention-lab ${SMALL} from="${away}" scale="2"></attention-lab><attention-lab id="b" ${SMALL} src="${away}#scale=3"></attention-lab>`);
    const links = await page.run(async (lab) => {
      const all = [...document.querySelectorAll('attention-lab')];
      await until(() => all.every((one) => one.shadowRoot.querySelector('iframe')), 'the start');
      all[0].setAttribute('from', lab);
      all[1].setAttribute('src', `${lab}#scale=4`);
      return Promise.all(all.map(async (one) => (await one.get()).link));
    }, `${page.lab}/`);
    has(links[0], 'scale=2', 'nq=6');
    has(links[1], 'scale=4', 'nq=6');
  });

  test('a plain iframe works without any script', async () => {
    const page = await host(`<iframe src="LAB/#v=1&embed=1&show=stage&src=random(7,1)&nq=6&nk=6&dk=4&dv=4&scale=2" title="A head" width="700" height="420"></iframe>`, { head: '' });
    await page.inside(async (web) => {
      await page.waitIn(() => document.querySelector('canvas')?.width > 100 && document.querySelector('.app.embedded'));
      assert.equal(await web.executeScript('return document.querySelector("header, aside.inspector") === null'), true);
    });
  });
});
