// Runs in the page: many times a second it compares every place that shows a cluster's health, and remembers where two disagree.
(() => {
  const found = new Set();
  const worstFirst = ["Unavailable", "Degraded", "Unknown", "Progressing", "Healthy"];
  const check = () => {
    const shown = [...document.querySelectorAll("[data-cluster][data-health]")];
    const all = shown.map(({ dataset }) => dataset.health);
    if (all.length === 0) return;
    const worst = worstFirst.find((each) => all.includes(each));
    const { title } = document;
    if (!title.includes(worst)) found.add(`title "${title}", page ${worst}`);
    for (const each of shown) {
      const { health, cluster } = each.dataset;
      const card = each.closest(".cluster");
      if (card && !card.classList.contains(health))
        found.add(`${cluster}: ${card.className}, and ${health}`);
    }
    for (const filter of document.querySelectorAll(".filters [data-count]")) {
      const health = worstFirst.find((each) => filter.classList.contains(each));
      const count = all.filter((each) => each === health).length;
      if (filter.dataset.count !== String(count))
        found.add(`filter ${filter.textContent}, ${count} clusters`);
    }
    if (document.querySelector(".headline.Healthy") === null) return;
    for (const hop of document.querySelectorAll(".path .hop"))
      if (/^(broken|absent|pending)$/.test(hop.dataset.state))
        found.add(`Healthy, and ${hop.dataset.hop} is ${hop.dataset.state}`);
    for (const trace of document.querySelectorAll('[data-works="false"]'))
      found.add(`Healthy, and ${trace.textContent}`);
  };
  setInterval(check, 30);
  globalThis.disagreements = () => [...found];
})();
