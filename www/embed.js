/**
 * `<attention-lab>`: a picture of Attention Lab inside any page.
 *
 *     <script src="https://lab.example/embed.js" async></script>
 *     <attention-lab source="random(7,1)" mask="causal" scale="1" show="stage" controls="scale" height="420">
 *       <a href="https://lab.example/#v=1&src=random(7,1)&mask=causal&scale=1">Open it in Attention Lab</a>
 *     </attention-lab>
 *
 * One file for all ways to load it: `<script src>`, `<script type="module" src>`, `import "https://lab.example/embed.js"`.
 * It has no imports and no exports. The lab is the one beside this file, unless the attribute `from` names another.
 *
 * Attributes: `src` (a whole link, or what follows its #), the keys of a link one by one (`mask`, `scale`, … with `source`
 * for src, `hidden-score` for hidden), what is shown (`show`, `controls`, `fixed`, `locked`, `theme`), and `height`,
 * `min-height`, `max-height`, `resize`, `loading`, `sandbox`, `title`, `from`. Changed later they change the picture.
 * Events: `ready`, `change` (detail: { link, reads }), `error` (detail: { message }).
 * Methods, all with promises: `set`, `get`, `png`, `data`.
 *
 * docs/embedding.md has the tables of all of these and the messages that go between this file and the lab (version 1).
 *
 * What stands between the tags is shown where this file did not load. The element takes no focus, scrolls nothing and
 * leaves the page's style alone; nothing in it needs 'unsafe-inline'. Its page needs `frame-src` and, where the file is
 * not copied, `script-src` for the lab's address, nothing else.
 */
(() => {
  if (customElements.get('attention-lab')) return;

  /** The version of the messages; www/frame.js describes them. */
  const VERSION = 1;
  /** Pixels that are kept free before the lab says how high it is. */
  const RESERVED = 480;
  const HIGHEST = 20_000;
  /** How far below or above the window an embed starts to load. */
  const NEAR = '400px 0px';
  /** Milliseconds until a question counts as unanswered, and a lab as not there. */
  const PATIENCE = 30_000;
  const ABSENT = 20_000;

  /** Attributes that become keys of the link: attribute -> key. */
  const KEYS = new Map([
    ...'lab h g nq nk dk dv scale cap mask pos norm sink head pin dout edit words root used'.split(' ').map((key) => [key, key]),
    ...'q k v x wq wk wv'.split(' ').map((name) => [name, name.toUpperCase()]),
    ['source', 'src'], ['hidden-score', 'hidden'],
  ]);
  /** Those that say what an embed shows. It is settled when the lab starts: a change loads it again, with its session. */
  const SHOWN = new Map([...'show controls fixed theme title'.split(' ').map((key) => [key, key]), ['locked', 'lock']]);
  /** Keys that a change may put back to their defaults, and that hold no numbers of the reader's. */
  const OPTIONS = new Set('h g nq nk dk dv scale cap norm hidden sink mask pos'.split(' '));
  /** Keys that may come more than once: their attributes hold several, with spaces in between. */
  const SEVERAL = new Set(['mask', 'pos']);
  const OWN = ['src', 'from', 'height', 'min-height', 'max-height', 'resize', 'loading', 'sandbox'];
  const ALL = [...KEYS.keys(), ...SHOWN.keys(), ...OWN];

  /** The folder of this file, which is the lab's: a script knows its address, a module finds it in a stack. */
  const home = (() => {
    const own = document.currentScript?.src || /(?:https?|file):\/\/[^\s()]*?(?=:\d+:\d+)/.exec(new Error().stack ?? '')?.[0];
    return own ? new URL('./', own).href.replace(/\/www\/$/, '/') : null;
  })();

  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`
    :host { display: block; }
    :host([hidden]) { display: none; }
    iframe { display: block; box-sizing: border-box; width: 100%; border: 0; color-scheme: normal; }
    p { margin: 4px 0 0; font: 14px/1.4 system-ui, sans-serif; }
  `);

  const quoted = (text) => `“${String(text).slice(0, 60)}”`;
  const wrong = (name, expected, got, remedy) => `${name}: expected ${expected}, got ${quoted(got)}. ${remedy}`;

  /** `a=1&b=2` as [['a', '1'], ['b', '2']]. */
  const pairsOf = (fragment) =>
    fragment.replace(/^#/, '').split('&').filter(Boolean).map((pair) => {
      const at = pair.indexOf('=');
      return at < 0 ? [pair, ''] : [pair.slice(0, at), pair.slice(at + 1)];
    });
  const textOf = (pairs) => pairs.map(([key, value]) => `${key}=${value}`).join('&');

  /** Whether one word is the other with a slip: a letter too many, too few, another one, or letters that changed places. */
  function slip(a, b) {
    const sorted = (word) => [...word].sort().join('');
    if (sorted(a) === sorted(b)) return true;
    let same = 0;
    while (same < a.length && a[same] === b[same]) same += 1;
    const [left, right] = [a.slice(same), b.slice(same)];
    return left.slice(1) === right.slice(1) || left.slice(1) === right || left === right.slice(1);
  }

  const [START, SEEN] = [Symbol('start'), Symbol('seen')];
  /** Slides that are not shown may stand where the one does that is. */
  const SIGHT = { visibilityProperty: true, opacityProperty: true, checkVisibilityCSS: true, checkOpacity: true };
  /** One observer for all embeds of the page. */
  const near = new IntersectionObserver((seen) => {
    for (const { isIntersecting, target } of seen) target[SEEN](isIntersecting);
  }, { rootMargin: NEAR });

  class AttentionLab extends HTMLElement {
    static observedAttributes = ALL;

    #root = null;
    #room = null;
    #iframe = null;
    #origin = null;
    #listens = false;
    #ready = false;
    #silence = null;
    #look = null;
    /** The session when the lab last told it: what a moved element opens again. */
    #link = null;
    #height = null;
    #dirty = new Set();
    #due = false;
    #asked = new Map();
    #next = 1;
    #notes = new Map();

    // ---- methods -----------------------------------------------------------------------------------------------------

    /**
     * Changes what is given and leaves the rest.
     * @param {string | Record<string, string | number | boolean | Array<string | number>>} changes keys and values of a
     *   link as text, or as an object under the names of attributes or of keys; lists are joined with commas, and what is
     *   null, empty or an empty list goes back to its default
     * @param {{ timeout?: number }} [options]
     * @returns {Promise<{ link: string, reads: object, problems: string[], painted: boolean }>} `problems` has a sentence
     *   for what could not be used; the rest is
     */
    async set(changes, { timeout } = {}) {
      const link = typeof changes === 'string' ? changes : textOf(this.#pairsOfObject(changes));
      return this.#ask('set', { link }, timeout);
    }

    /**
     * The session as it is: its link without the #, and all numbers that the page shows, by their names. `painted` is
     * false where a lab that is off the screen has no picture yet, and so no numbers.
     * @returns {Promise<{ link: string, reads: Record<string, number | number[]>, painted: boolean }>}
     */
    async get({ timeout } = {}) { return this.#ask('get', {}, timeout); }

    /**
     * The picture as a PNG.
     * @param {{ part?: string, title?: string, density?: number, timeout?: number }} [options] `part`: one of those in
     *   `show`; `title`: the line above it, the element's title if left out; `density`: pixels for one of CSS
     * @returns {Promise<Blob>}
     */
    async png({ part, title = this.getAttribute('title') ?? undefined, density, timeout } = {}) {
      const { bytes, type } = await this.#ask('png', { part, title, density }, timeout);
      return new Blob([bytes], { type });
    }

    /** The numbers of the picture, matrices row by row in Float64Arrays: embed.d.ts names them. */
    async data({ timeout } = {}) { return this.#ask('data', {}, timeout); }

    /** What is wrong at the moment, in sentences, as they stand in the lab or below it. */
    get problems() { return [...new Set([...this.#notes.values()].flat())]; }

    // ---- life --------------------------------------------------------------------------------------------------------

    connectedCallback() {
      if (!this.#root) {
        this.#root = this.attachShadow({ mode: 'open' });
        this.#root.adoptedStyleSheets = [sheet];
        this.#room = document.createElement('div');
        this.#root.append(this.#room);
      }
      this.#layOut();
      if (this.getAttribute('loading') === 'eager') this[START]();
      else near.observe(this);
    }

    /** `moveBefore` keeps the lab running. */
    connectedMoveCallback() {}

    disconnectedCallback() {
      near.unobserve(this);
      clearTimeout(this.#look);
      this.#stop('The lab was taken off the page. Put the element back, then ask again.');
    }

    attributeChangedCallback(name, before, after) {
      if (before === after) return;
      this.#dirty.add(name);
      if (this.#due) return;
      this.#due = true;
      queueMicrotask(() => {
        this.#due = false;
        this.#follow();
      });
    }

    /** It has come near, or gone. What is near and not visible, as on a slide to come, is looked at again. */
    [SEEN](isNear) {
      clearTimeout(this.#look);
      if (!isNear) return;
      if (this.checkVisibility?.(SIGHT) ?? true) this[START]();
      else this.#look = setTimeout(() => this[SEEN](true), 250);
    }

    [START]() {
      if (this.#iframe || !this.isConnected || !this.#root) return;
      near.unobserve(this);
      for (const about of ['silence', 'origin', 'version', 'said', 'lab']) this.#note(about, []);
      this.#note('spelling', this.#misspelt());
      const address = this.#address();
      if (!address) return;
      this.#dirty.clear();
      const iframe = document.createElement('iframe');
      iframe.title = this.getAttribute('title') || 'Attention Lab';
      const sandboxed = this.hasAttribute('sandbox');
      if (sandboxed) iframe.setAttribute('sandbox', 'allow-scripts allow-popups');
      this.#origin = sandboxed ? 'null' : address.origin;
      window.addEventListener('message', this.#hear);
      iframe.src = address.href;
      this.#iframe = iframe;
      this.#room.append(iframe);
      this.#layOut();
      this.#wait();
    }

    #stop(why) {
      clearTimeout(this.#silence);
      window.removeEventListener('message', this.#hear);
      this.#iframe?.remove();
      this.#iframe = null;
      this.#listens = false;
      this.#ready = false;
      if (why) for (const { no } of [...this.#asked.values()]) no(new Error(why));
    }

    /** What was asked is asked again. */
    #restart() {
      this.#stop();
      this[START]();
    }

    /** Says so where the lab does not answer. A page in the background loads when it likes. */
    #wait() {
      clearTimeout(this.#silence);
      this.#silence = setTimeout(() => {
        if (document.visibilityState === 'hidden') this.#wait();
        else this.#note('silence', [`The lab: expected an answer from ${new URL(this.#iframe.src).origin} within ${ABSENT / 1000} seconds, got none. Check the address and the network, then try again.`]);
      }, ABSENT);
    }

    // ---- attributes --------------------------------------------------------------------------------------------------

    /** The lab's page with the whole state behind its #; null where there is no address, which is said. */
    #address() {
      const src = (this.getAttribute('src') ?? '').trim();
      const hash = src.indexOf('#');
      const isFragment = hash < 0 && /^[a-z]+=/.test(src);
      const page = isFragment ? '' : hash < 0 ? src : src.slice(0, hash);
      const problems = [];
      let address = null;
      for (const [name, text, around] of [['src', page, document.baseURI], ['from', this.getAttribute('from') ?? '', document.baseURI], ['from', home ?? '', undefined]]) {
        if (address || !text) continue;
        try {
          const found = new URL(text, around);
          if (!['http:', 'https:', 'file:'].includes(found.protocol)) throw new TypeError();
          address = found;
        } catch {
          problems.push(wrong(name, 'an address that starts with https://', text, 'It is left out.'));
        }
      }
      if (!address) problems.push('from: expected the address of an Attention Lab, got none. Load embed.js from a lab, or name one in the attribute from.');
      this.#note('address', problems);
      if (address) address.hash = this.#fragment(isFragment ? src : hash < 0 ? '' : src.slice(hash + 1));
      return address;
    }

    /** The whole state: the link, the attributes over it, and what the embed shows. */
    #fragment(given) {
      if (this.#dirty.has('src')) this.#link = null;
      const changed = [...KEYS.keys()].filter((name) => this.hasAttribute(name) && (this.#link === null || this.#dirty.has(name)));
      // The lab's own words for its state hold nothing of what is shown: that stays with the attributes.
      const shown = pairsOf(given).filter(([key]) => [...SHOWN.values()].includes(key));
      const base = this.#link === null ? pairsOf(given) : [...pairsOf(this.#link), ...shown];
      const own = this.#pairs([...changed, ...SHOWN.keys()]);
      const keys = new Set(own.map(([key]) => key)).add('embed').add('v');
      const version = base.find(([key]) => key === 'v') ?? ['v', '1'];
      return textOf([version, ...base.filter(([key]) => !keys.has(key)), ...own, ['embed', '1']]);
    }

    /** Attributes as keys and values; those that cannot be read are left out, with a note. */
    #pairs(names) {
      const pairs = [];
      for (const name of names) {
        const text = this.getAttribute(name);
        this.#note(name, []);
        if (text === null) continue;
        const key = KEYS.get(name) ?? SHOWN.get(name);
        const value = text.trim();
        if (name === 'locked') {
          if (!['false', '0'].includes(value)) pairs.push([key, '1']);
        } else if (name === 'title') {
          if (value) pairs.push([key, encodeURIComponent(value).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16)}`)]);
        } else if (name === 'theme' && !['light', 'dark'].includes(value)) {
          this.#note(name, [wrong(name, 'light or dark', text, 'The reader’s own is used.')]);
        } else if (value === '' || /[&#\u0000-\u001f]/.test(value)) {
          this.#note(name, [wrong(name, value === '' ? 'a value' : 'one value without & and #', text, 'It is left out.')]);
        } else {
          for (const one of SEVERAL.has(key) ? value.split(/\s+/) : [value.replace(/,\s+/g, ',')]) pairs.push([key, one]);
        }
      }
      return pairs;
    }

    #pairsOfObject(changes) {
      if (typeof changes !== 'object' || changes === null) {
        throw new TypeError(`set: expected text such as “scale=1” or an object such as { scale: 1 }, got ${quoted(changes)}. Give one of them.`);
      }
      return Object.entries(changes).flatMap(([name, value]) => {
        const key = KEYS.get(name) ?? SHOWN.get(name) ?? name;
        if (SEVERAL.has(key) && Array.isArray(value) && value.length) return value.map((one) => [key, String(one)]);
        return [[key, value === null ? '' : value === true ? '1' : value === false ? '0' : Array.isArray(value) ? value.join(',') : String(value)]];
      });
    }

    /** Attributes that are almost one of ours. Those of a page's own making are none of our business. */
    #misspelt() {
      const plain = [...this.attributes].map((a) => a.name).filter((name) => /^[a-z-]{4,}$/.test(name) && !/^(data|aria|on)/.test(name));
      return plain.filter((name) => !ALL.includes(name) && !['hidden', 'style', 'class', 'slot', 'lang', 'role', 'part', 'inert'].includes(name)).flatMap((name) => {
        const meant = ALL.find((known) => known.length > 3 && slip(name, known));
        return meant ? [`${name}: there is no such attribute. Write ${meant} if you meant that.`] : [];
      });
    }

    /** Attributes changed after the start go to the lab without loading it again. */
    #follow() {
      // WebKit may come here before the element is told that it is connected.
      if (!this.isConnected || !this.#root) return;
      this.#layOut();
      if (this.getAttribute('loading') === 'eager') this[START]();
      if (!this.#iframe) return near.observe(this);
      const changed = [...this.#dirty];
      const anew = (name) => name === 'from' || name === 'sandbox' || SHOWN.has(name) || (name === 'src' && !this.#listens);
      if (changed.some(anew)) return this.#restart();
      // A lab that is still loading is told when it is there.
      if (!this.#listens) return;
      const keys = changed.filter((name) => KEYS.has(name));
      if (changed.includes('src')) {
        const address = this.#address();
        this.#dirty.clear();
        if (!address) return;
        if (address.href.split('#')[0] !== this.#iframe.src.split('#')[0]) return this.#restart();
        this.#tell('open', address.hash.slice(1));
      } else if (keys.length) {
        const pairs = this.#pairs(keys);
        const gone = keys.map((name) => KEYS.get(name)).filter((key) => !pairs.some((pair) => pair[0] === key));
        this.#dirty.clear();
        // What is taken away goes back to its default: an option as `set` does it, the rest by a link without it.
        const touched = [...gone, ...pairs.map(([key]) => key)];
        if (gone.some((key) => !OPTIONS.has(key))) this.#tell('open', this.#link === null ? this.#address()?.hash.slice(1) : textOf([...pairsOf(this.#link).filter(([key]) => !touched.includes(key)), ...pairs]), touched);
        else this.#tell('set', textOf([...pairs, ...gone.map((key) => [key, ''])]), touched);
      } else this.#dirty.clear();
    }

    /** `touched`: the keys whose earlier sentences are out of date; all of them if left out. */
    #tell(type, link, touched) {
      const answered = (problems) => {
        const old = (this.#notes.get('lab') ?? []).filter((said) => touched && !touched.some((key) => said.startsWith(`${key}:`)));
        this.#note('lab', [...old, ...problems]);
      };
      this.#ask(type, { link }).then(({ problems }) => answered(problems), (error) => answered([error.message]));
    }

    // ---- the place ---------------------------------------------------------------------------------------------------

    #pixels(name, otherwise) {
      const text = this.getAttribute(name);
      this.#note(name, []);
      if (text === null) return otherwise;
      const value = Number(text.trim().replace(/px$/, ''));
      if (text.trim() !== '' && value >= 1 && value <= HIGHEST) return value;
      this.#note(name, [wrong(name, `pixels from 1 to ${HIGHEST}`, text, 'It is left out.')]);
      return otherwise;
    }

    #layOut() {
      if (!this.#room) return;
      const reserved = this.#pixels('height', RESERVED);
      const least = this.#pixels('min-height', 1);
      const most = Math.max(least, this.#pixels('max-height', HIGHEST));
      for (const [name, values] of [['resize', ['auto', 'none']], ['loading', ['lazy', 'eager']]]) {
        const text = this.getAttribute(name);
        this.#note(name, text === null || values.includes(text) ? [] : [wrong(name, values.join(' or '), text, `${values[0]} is used.`)]);
      }
      const wanted = this.getAttribute('resize') === 'none' ? reserved : this.#height ?? reserved;
      const height = `${Math.min(most, Math.max(least, wanted))}px`;
      // The room keeps its height while an element is moved and its lab loads again.
      for (const { style } of [this.#room, this.#iframe].filter(Boolean)) if (style.height !== height) style.height = height;
    }

    /** Keeps the sentences about one thing, shows all of them, and tells the page those that are new. */
    #note(about, sentences) {
      const before = this.#notes.get(about) ?? [];
      const known = this.problems;
      if (sentences.length) this.#notes.set(about, sentences);
      else this.#notes.delete(about);
      if (String(before) === String(sentences)) return;
      if (this.#root) this.#showNotes();
      // Later, since a page adds its listeners after the element.
      for (const message of sentences) if (!known.includes(message)) setTimeout(() => this.#emit('error', { message }));
    }

    #showNotes() {
      this.#root.querySelector('[role]')?.remove();
      const list = document.createElement('div');
      list.setAttribute('role', 'status');
      list.setAttribute('part', 'problems');
      for (const [about, sentences] of this.#notes) {
        // The lab shows its own.
        if (about === 'lab' || about === 'said') continue;
        for (const sentence of sentences) {
          const item = list.appendChild(document.createElement('p'));
          item.textContent = sentence;
          if (about !== 'silence') continue;
          const again = document.createElement('button');
          again.textContent = 'Try again';
          again.addEventListener('click', () => this.#restart());
          item.append(' ', again);
        }
      }
      if (list.hasChildNodes()) this.#root.append(list);
    }

    #emit(type, detail) {
      this.dispatchEvent(new CustomEvent(type, { detail }));
    }

    // ---- messages ----------------------------------------------------------------------------------------------------

    #post(message) {
      this.#iframe.contentWindow?.postMessage({ attentionLab: VERSION, ...message }, this.#origin === 'null' ? '*' : this.#origin);
    }

    /** Asks the lab, starting it if it has not been near yet. */
    #ask(type, question, timeout = PATIENCE) {
      if (!this.isConnected) return Promise.reject(new Error(`${type}: expected an element on a page, got one that is not. Append it first.`));
      this[START]();
      if (!this.#iframe) return Promise.reject(new Error(`${type}: the lab has no address. Name one in the attribute from.`));
      return new Promise((resolve, reject) => {
        const id = this.#next;
        this.#next += 1;
        const message = { type, id, ...question };
        const timer = setTimeout(() => asked.no(new Error(`${type}: expected an answer within ${timeout / 1000} seconds, got none. Check the lab’s address and the network, then try again.`)), timeout);
        const end = (finish) => (value) => {
          clearTimeout(timer);
          this.#asked.delete(id);
          finish(value);
        };
        const asked = { message, yes: end(resolve), no: end(reject) };
        this.#asked.set(id, asked);
        if (this.#listens) this.#post(message);
      });
    }

    #hear = ({ source, origin, data }) => {
      if (!this.#iframe || source !== this.#iframe.contentWindow || typeof data !== 'object' || data === null || !('attentionLab' in data)) return;
      if (origin !== this.#origin) {
        this.#note('origin', [wrong('from', `messages from ${this.#origin}`, origin, 'The address leads elsewhere: write the one where it leads.')]);
        return;
      }
      if (data.attentionLab !== VERSION) {
        this.#note('version', [wrong('embed.js', `messages of version ${VERSION}`, data.attentionLab, 'Load embed.js from the address of the lab.')]);
        return;
      }
      clearTimeout(this.#silence);
      this.#note('silence', []);
      if (data.type === 'hello') {
        this.#listens = true;
        this.#post({ type: 'hello' });
        for (const { message } of this.#asked.values()) this.#post(message);
        if (this.#dirty.size) this.#follow();
      } else if (data.type === 'height' && Number.isFinite(data.height) && data.height >= 1) {
        this.#height = Math.min(HIGHEST, Math.ceil(data.height));
        this.#layOut();
      } else if (data.type === 'ready' || data.type === 'change') {
        this.#told(data.link, data.reads);
      } else if (data.type === 'error') {
        // Before the first picture it is about the attributes, and stays until they change.
        this.#note(this.#ready ? 'said' : 'lab', [...(this.#ready ? [] : this.#notes.get('lab') ?? []), String(data.message)]);
      } else if (data.type === 'reply') {
        if (data.ok) this.#asked.get(data.id)?.yes(data.value);
        else this.#asked.get(data.id)?.no(new Error(String(data.error)));
      }
    };

    /** A picture is painted: the first one, or one of a changed session. */
    #told(link, reads) {
      this.#link = String(link);
      this.#note('said', []);
      this.#emit(this.#ready ? 'change' : 'ready', { link, reads });
      this.#ready = true;
    }
  }

  customElements.define('attention-lab', AttentionLab);
})();
