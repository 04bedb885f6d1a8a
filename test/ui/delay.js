// Runs in the page: remembers when an answer first carried a health of a cluster, and when the headline first showed it.
(() => {
  const carried = {};
  const shown = {};
  const { fetch } = globalThis;
  globalThis.fetch = async (...request) => {
    const answer = await fetch(...request);
    if (String(request[0]).startsWith("/api/clusters/"))
      answer
        .clone()
        .json()
        .then(({ picture }) => {
          for (const { health } of picture?.clusters ?? []) carried[health] ??= performance.now();
        });
    return answer;
  };
  new MutationObserver(() => {
    const health = document.querySelector(".headline [data-health]")?.dataset.health;
    if (health) shown[health] ??= performance.now();
  }).observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  globalThis.delayOf = (health) => shown[health] - carried[health];
})();
