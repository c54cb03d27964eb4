(() => {
  const faults = new Set();
  const all = (selector) => [...document.querySelectorAll(selector)];
  const name = (e) => e.tagName.toLowerCase() + (e.className && e.className.baseVal === undefined ? "." + e.className : "") + " " + JSON.stringify((e.textContent || "").trim().slice(0, 40));

  // Everything is looked at in its open state.
  for (const d of all("details")) d.open = true;

  // Width: only the page as a whole matters.
  if (document.documentElement.scrollWidth > document.documentElement.clientWidth) {
    const wide = all("body *").filter((e) => e.getBoundingClientRect().right > innerWidth + 1).map(name).slice(0, 3);
    faults.add(`scrolls to ${document.documentElement.scrollWidth} of ${innerWidth}: ${wide.join("; ")}`);
  }

  // Contrast, by https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio.
  const colour = (text) => {
    const n = (text.match(/[\d.]+/g) || []).map(Number);
    return { r: n[0], g: n[1], b: n[2], a: n.length > 3 ? n[3] : 1 };
  };
  const over = (top, under) => {
    const mix = (k) => top[k] * top.a + under[k] * (1 - top.a);
    return { r: mix("r"), g: mix("g"), b: mix("b"), a: 1 };
  };
  const luminance = (c) => {
    const part = (v) => ((v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * part(c.r) + 0.7152 * part(c.g) + 0.0722 * part(c.b);
  };
  const ratio = (a, b) => {
    const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p);
    return (x + 0.05) / (y + 0.05);
  };
  const backdrop = (e) => {
    const layers = [];
    for (; e; e = e.parentElement) layers.push(colour(getComputedStyle(e).backgroundColor));
    return layers.reverse().reduce((under, top) => over(top, under), { r: 255, g: 255, b: 255, a: 1 });
  };
  let texts = 0;
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const e = walk.currentNode.parentElement;
    if (!walk.currentNode.data.trim() || !e.checkVisibility() || e.closest(".hidden, .skip, style")) continue;
    texts++;
    const back = backdrop(e);
    const r = ratio(over(colour(getComputedStyle(e).color), back), back);
    if (r < 4.5) faults.add(`contrast ${r.toFixed(2)} of ${name(e)}`);
  }
  if (!texts) faults.add("no text is visible");
  for (const e of all("svg [class^=series]")) {
    const r = ratio(colour(getComputedStyle(e).fill), backdrop(e.closest("figure")));
    if (r < 1.9) faults.add(`contrast ${r.toFixed(2)} of a bar ${e.getAttribute("class")}`);
  }

  // Landmarks and headings.
  for (const tag of ["header", "main", "footer"]) {
    const n = all(`body > ${tag}`).length;
    if (n !== 1) faults.add(`${n} landmarks ${tag}`);
  }
  for (const e of all("nav, section, article")) {
    const by = e.getAttribute("aria-labelledby");
    if (!e.getAttribute("aria-label") && !(by && document.getElementById(by))) faults.add(`no label: ${name(e)}`);
  }
  for (const e of document.body.children) {
    if (!["HEADER", "NAV", "MAIN", "FOOTER"].includes(e.tagName) && !e.matches(".skip")) faults.add(`outside of landmarks: ${name(e)}`);
  }
  let level = 0;
  for (const h of all("h1, h2, h3, h4, h5, h6")) {
    const next = Number(h.tagName[1]);
    if (next > level + 1 || !h.textContent.trim()) faults.add(`heading ${h.tagName} after level ${level}: ${name(h)}`);
    level = next;
  }
  if (all("h1").length !== 1) faults.add("not one h1");
  if (!document.documentElement.lang || !document.title) faults.add("no language or title");

  // References and names.
  const ids = all("[id]").map((e) => e.id);
  if (new Set(ids).size !== ids.length) faults.add("an id occurs twice");
  for (const a of all("a")) {
    if (!a.getAttribute("href").startsWith("#") || !document.getElementById(a.getAttribute("href").slice(1))) faults.add(`a link without a target in the page: ${name(a)}`);
    if (!a.textContent.trim()) faults.add("a link without a name");
  }
  for (const e of all("svg")) if (e.getAttribute("role") !== "img" || !e.getAttribute("aria-label")) faults.add("a drawing without a name");
  for (const t of all("table")) {
    if (!t.caption || !t.caption.textContent.trim() || !t.querySelector("th[scope=col]")) faults.add(`table without caption or heads: ${name(t)}`);
  }
  for (const d of all("details")) if (!d.querySelector(":scope > summary") || !d.querySelector(":scope > summary").textContent.trim()) faults.add("a fold without a name");

  // Nothing runs, loads or sends.
  for (const e of all("script, iframe, object, embed, img, link, form, input, base, video, audio, source, use, image, animate, set, foreignObject, math, [style], [src], [srcset]")) faults.add(`the element ${name(e)}`);
  for (const e of all("*")) for (const a of e.attributes) if (/^on/i.test(a.name)) faults.add(`the attribute ${a.name}`);
  return [...faults];
})()
