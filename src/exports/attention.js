// The module of other people's pages, at the top of the site.
export * from './www/attention.js';
