// Runs in the page: the words that the eye cannot read as one, because they are broken over two lines, run over the edge of their
// box, or are cut off without a title.
(() => {
  globalThis.brokenWords = () => {
    const broken = [];
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = texts.nextNode(); node; node = texts.nextNode()) {
      const parent = node.parentElement;
      if (parent.closest(".hidden, script, style, pre, option") || !parent.checkVisibility())
        continue;
      for (const { 0: word, index } of node.data.matchAll(/[\p{L}\p{N}]+/gu)) {
        const range = document.createRange();
        range.setStart(node, index);
        range.setEnd(node, index + word.length);
        const parts = [...range.getClientRects()];
        const lines = new Set(parts.map(({ top }) => Math.round(top)));
        if (lines.size > 1) broken.push(`${word} in "${parent.textContent}"`);
        const edge = parent.closest(".box, .card, main")?.getBoundingClientRect().right;
        if (!parent.closest(".scroll") && parts.some(({ right }) => right > edge + 1))
          broken.push(`over the edge: ${word} in "${parent.textContent}"`);
      }
    }
    for (const each of document.querySelectorAll("main *")) {
      const { overflowX } = getComputedStyle(each);
      const isCut = each.scrollWidth > each.clientWidth + 1 && overflowX === "hidden";
      if (isCut && !each.closest("[title], .hidden")) broken.push(`cut: "${each.textContent}"`);
    }
    return broken;
  };
})();
