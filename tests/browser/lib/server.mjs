// The served pages, for tests: what was started for a file ends with it.

import { after } from 'node:test';
import { address, close, serve } from './static.mjs';

after(close);

export { address, serve };
