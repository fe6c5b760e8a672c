// Search and copy buttons. Without this file the manual is still complete; these two are then not shown.

(() => {
  const MOST = 12;
  const AROUND = 70;

  // --- search -------------------------------------------------------------------------------------

  const rows = (globalThis.manualIndex ?? []).map(([to, chapter, heading, text]) => ({
    to,
    chapter,
    heading,
    text,
    low: {
      chapter: chapter.toLowerCase(),
      heading: heading.toLowerCase(),
      text: text.toLowerCase(),
    },
  }));

  /** Rows that hold every word, best first: in headings, at the start of words, and often. */
  function search(words) {
    return rows
      .map((row) => ({ row, score: score(row, words) }))
      .filter((hit) => hit.score > 0)
      .sort((a, b) => b.score - a.score)
      .map((hit) => hit.row);
  }

  function score({ low }, words) {
    let sum = 0;
    for (const word of words) {
      const here =
        12 * count(low.heading, word) +
        6 * count(low.chapter, word) +
        Math.min(5, count(low.text, word));
      if (here === 0) return 0;
      sum += here;
    }
    return low.text.includes(words.join(" ")) ? sum + 3 : sum;
  }

  /** Inside a word counts a little, at its start it counts whole. */
  function count(text, word) {
    let sum = 0;
    for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) {
      sum += at === 0 || /[^\p{L}\p{N}]/u.test(text[at - 1]) ? 1 : 0.2;
    }
    return sum;
  }

  /** The text round the first word that is found. */
  function excerpt({ text, low }, words) {
    const places = words.map((word) => low.text.indexOf(word)).filter((at) => at >= 0);
    const at = places.length > 0 ? Math.min(...places) : 0;
    const from = at <= AROUND ? 0 : text.indexOf(" ", at - AROUND) + 1;
    const to =
      text.length <= at + 2 * AROUND ? text.length : text.lastIndexOf(" ", at + 2 * AROUND);
    const part = text.slice(Math.min(from, at), Math.max(to, at + AROUND));
    return `${from > 0 ? "… " : ""}${part}${to < text.length ? " …" : ""}`;
  }

  /** Adds text to an element with the words marked. */
  function marked(element, text, words) {
    const low = text.toLowerCase();
    let done = 0;
    while (done < text.length) {
      const next = words
        .map((word) => ({ word, at: low.indexOf(word, done) }))
        .filter(({ at }) => at >= 0)
        .sort((a, b) => a.at - b.at || b.word.length - a.word.length)[0];
      if (next === undefined) break;
      element.append(text.slice(done, next.at));
      const mark = document.createElement("mark");
      mark.textContent = text.slice(next.at, next.at + next.word.length);
      element.append(mark);
      done = next.at + next.word.length;
    }
    element.append(text.slice(done));
    return element;
  }

  const box = document.querySelector(".search");
  const input = document.querySelector("#find");
  const results = document.querySelector("#results");
  const status = document.querySelector("#found");

  function show() {
    const words = [
      ...new Set(input.value.normalize("NFC").toLowerCase().split(/\s+/).filter(Boolean)),
    ];
    const hits = words.length > 0 ? search(words) : [];
    results.replaceChildren(...hits.slice(0, MOST).map((row) => item(row, words)));
    if (words.length > 0 && hits.length === 0) {
      const none = document.createElement("p");
      none.textContent = "Nothing found. Try fewer or shorter words.";
      const holder = document.createElement("li");
      holder.append(none);
      results.append(holder);
    }
    results.hidden = words.length === 0;
    status.textContent =
      words.length === 0
        ? ""
        : `${hits.length} found${hits.length > 0 ? ", arrow down to reach them" : ""}`;
  }

  function item(row, words) {
    const link = document.createElement("a");
    link.href = row.to;
    const title = row.heading === row.chapter ? row.heading : `${row.chapter} › ${row.heading}`;
    link.append(marked(document.createElement("b"), title, words));
    link.append(marked(document.createElement("span"), excerpt(row, words), words));
    const holder = document.createElement("li");
    holder.append(link);
    return holder;
  }

  function close() {
    results.hidden = true;
    status.textContent = "";
  }

  const links = () => (results.hidden ? [] : [...results.querySelectorAll("a")]);

  input.addEventListener("input", show);
  input.addEventListener("focus", show);
  box.addEventListener("keydown", (event) => {
    const all = links();
    const place = all.indexOf(document.activeElement);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && all.length > 0) {
      event.preventDefault();
      const next = place + step;
      if (next < 0) input.focus();
      else all[Math.min(next, all.length - 1)].focus();
    } else if (event.key === "Enter" && place < 0 && all.length > 0) {
      event.preventDefault();
      all[0].click();
    } else if (event.key === "Escape") {
      event.preventDefault();
      if (place >= 0) input.focus();
      else {
        input.value = "";
        input.blur();
      }
      close();
    }
  });
  box.addEventListener("click", (event) => {
    if (event.target.closest("a")) close();
  });
  document.addEventListener("click", (event) => {
    if (!box.contains(event.target)) close();
  });
  document.addEventListener("keydown", (event) => {
    const writing = event.target.closest?.("input, textarea, select, [contenteditable]");
    if (event.key !== "/" || writing || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    input.focus();
    input.select();
  });
  box.hidden = false;

  // --- copying ------------------------------------------------------------------------------------

  for (const block of document.querySelectorAll("pre[data-copy]")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.setAttribute("aria-label", block.querySelector("i") ? "Copy the commands" : "Copy");
    button.addEventListener("click", async () => {
      button.textContent = (await copied(block.dataset.copy)) ? "Copied" : "Not copied";
      setTimeout(() => {
        button.textContent = "Copy";
      }, 1500);
    });
    const holder = document.createElement("div");
    holder.className = "block";
    block.replaceWith(holder);
    holder.append(block, button);
  }

  async function copied(text) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      // Where the clipboard is not given to pages of a folder, the old way may still work.
      const area = document.createElement("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      const done = document.execCommand("copy");
      area.remove();
      return done;
    }
  }
})();
