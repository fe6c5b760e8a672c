/** The manual as a static site. */

export { buildManual, MARKER, publish, publishTemporarily, readSources } from "./files.ts";
export { buildSite, type Site, type Sources } from "./site.ts";
