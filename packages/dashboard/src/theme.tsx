import { useState } from "preact/hooks";

const themes = ["auto", "light", "dark"] as const;
type Name = (typeof themes)[number];

/** A browser may forbid storage: then the choice lasts as long as the page. */
function remembered(): Name {
  try {
    const stored = localStorage.getItem("theme");
    return themes.find((name) => name === stored) ?? "auto";
  } catch {
    return "auto";
  }
}

function use(name: Name): void {
  document.documentElement.dataset.theme = name;
  try {
    localStorage.setItem("theme", name);
  } catch {
    // It lasts as long as the page.
  }
}

use(remembered());

/** Light, dark, or as the system prefers. */
export function Theme() {
  const [name, setName] = useState<Name>(remembered());
  return (
    <label class="theme">
      <span class="hidden">Theme</span>
      <select
        value={name}
        onChange={({ currentTarget }) => {
          const wanted = currentTarget.value as Name;
          use(wanted);
          setName(wanted);
        }}
      >
        {themes.map((each) => (
          <option key={each} value={each}>
            {each}
          </option>
        ))}
      </select>
    </label>
  );
}
