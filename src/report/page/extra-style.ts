/** Rules of the pages that show rows; the training page does without them. */

export const ROW_STYLE = `
h5 { margin: 0 0 0.4rem; font-size: 0.9375rem; line-height: 1.25; overflow-wrap: anywhere; }
.sample:target h5 { color: var(--accent); }
.blank { opacity: 1; }
.reason { margin-bottom: 0.5rem; overflow-wrap: anywhere; white-space: pre-wrap; }
.group { margin: 1.75rem 0 0.75rem; font-size: 1.0625rem; }
h4.group { margin-top: 1.25rem; font-size: 1rem; }
.more { margin-bottom: 0.5rem; }
.charts + p { margin-top: 1rem; }
.more > summary { margin-bottom: 1rem; }
.sample details { margin-top: 0.4rem; font-size: 0.875rem; }
td.barred { white-space: nowrap; }
td code, th code { overflow-wrap: normal; }
.facts.stacked { display: block; margin-bottom: 1.1rem; }
.facts.stacked dt { flex: 0 0 7.5rem; }
.reasons { margin: 0; padding: 0; list-style: none; }
.reasons > li { max-width: 60rem; margin-bottom: 1.1rem; }
.reasons p { margin-bottom: 0.25rem; }
.notes { max-width: 60rem; padding-left: 1.4rem; }
@media (max-width: 46rem) {
  .narrow thead { display: none; }
  .narrow, .narrow :is(tbody, tr, th, td) { display: block; padding-left: 0; border: 0; }
  .narrow tr { margin-bottom: 0.9rem; padding-bottom: 0.5rem; border-bottom: 1px solid var(--line); }
  .narrow td { padding-block: 0.05rem; }
  .narrow td::before { content: attr(data-name) " "; color: var(--muted); }
  .facts.stacked div { display: block; margin-bottom: 0.3rem; }
}
`;
