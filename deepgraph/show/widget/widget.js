// Draws what the page brings as JSON: sheets of boxes and routes, laid out before. Layers open on a
// click: the plane around them is stretched, so nothing is laid out here.
"use strict";
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const PAD = 12, HEAD = 24, LEADING = 1.3, BAR = 18; // the last: an upright scroll bar
  const READABLE = 0.65; // the least zoom to begin with

  function make(parent, name, attributes = {}, text = "") {
    const svg = parent.namespaceURI === SVG || name === "svg";
    const made = svg ? document.createElementNS(SVG, name) : document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text) made.textContent = text;
    return parent.appendChild(made);
  }

  // A monotone map of an axis that makes room for intervals that grow: [low, high, growth].
  function stretch(grown) {
    const ends = [...new Set(grown.flatMap(([low, high]) => [low, high]))].sort((a, b) => a - b);
    const more = new Map();
    let least = 0;
    for (const end of ends) {
      for (const [low, high, growth] of grown)
        if (high === end) least = Math.max(least, more.get(low) + growth);
      more.set(end, least);
    }
    return (at) => {
      let before = ends.findLastIndex((end) => end <= at);
      if (before < 0) return at;
      if (before === ends.length - 1) return at + least;
      const low = ends[before], high = ends[before + 1];
      const share = (at - low) / (high - low);
      return at + more.get(low) * (1 - share) + more.get(high) * share;
    };
  }

  function lines(parent, labels, details, x, y) {
    for (const [texts, size, sort] of [[labels, 12, ""], [details, 10, "detail"]])
      for (const text of texts) {
        y += size * LEADING;
        make(parent, "text", { class: sort, x, y: y - size * 0.33 }, text);
      }
    return y;
  }

  const hot = ({ heat }) => (heat ? { style: `fill: var(--hot); fill-opacity: ${heat}` } : {});
  const spoken = (mark) => mark.replace("_", " ");

  class Widget {
    constructor(host, data) {
      this.data = data;
      this.at = data.stages.length - 1;
      this.before = false;
      this.open = new Set(data.open);
      this.chosen = null;
      this.zoom = null;
      this.widest = Math.max(...data.stages.map((stage) => data.sheets[stage.sheet].size[0]));
      const root = host.attachShadow({ mode: "open" });
      make(root, "style", {}, data.style);
      this.top = make(root, "div", { class: "top" });
      this.main = make(root, "div", { class: "main" });
      this.view = make(this.main, "div", { class: "view" });
      this.side = make(this.main, "div", { class: "side" });
      this.legend = make(root, "div", { class: "legend" });
      this.controls();
      this.drag();
      this.draw();
    }

    controls() {
      const stages = this.data.stages;
      if (stages.length > 1) {
        const passes = make(this.top, "div", { class: "passes" });
        this.slider = make(passes, "input", {
          type: "range", min: 0, max: stages.length - 1, value: this.at, "aria-label": "pass",
        });
        this.slider.oninput = () => this.show(+this.slider.value);
        const ticks = make(passes, "div", { class: "ticks" });
        this.ticks = stages.map((stage, k) => {
          const tick = make(ticks, "span", {}, stage.name);
          tick.onclick = () => this.show(k);
          return tick;
        });
        this.sides = ["before", "after"].map((name) => {
          const button = make(this.top, "button", {}, name);
          button.onclick = () => this.show(this.at, name === "before");
          return button;
        });
      }
      this.told = make(this.top, "div", { class: "told" });
      const button = (text, title, act) => {
        make(this.top, "button", { title }, text).onclick = act;
      };
      button("−", "smaller", () => this.rescale(this.zoom / 1.25));
      button("+", "larger", () => this.rescale(this.zoom * 1.25));
      button("fit", "the whole width", () => this.rescale(this.fitting()));
      button("1:1", "the size of the text", () => this.rescale(1));
    }

    drag() {
      this.view.onpointerdown = (down) => {
        const from = [this.view.scrollLeft + down.clientX, this.view.scrollTop + down.clientY];
        this.view.onpointermove = (move) => {
          this.view.scrollTo(from[0] - move.clientX, from[1] - move.clientY);
        };
      };
      this.view.onpointerup = this.view.onpointerleave = () => { this.view.onpointermove = null; };
    }

    show(at, before = this.before) {
      this.at = at;
      this.before = before && at > 0;
      this.draw();
    }

    // Draw anew; what was looked at stays where it was.
    draw(looked = this.looked()) {
      const stage = this.data.stages[this.at];
      const shown = this.before ? this.data.stages[this.at - 1] : stage;
      this.marks = this.before ? stage.lost : stage.made;
      if (this.slider) {
        this.slider.value = this.at;
        this.ticks.forEach((tick, k) => tick.classList.toggle("now", k === this.at));
        this.sides.forEach((button, k) => button.classList.toggle("on", this.before === (k === 0)));
      }
      this.told.textContent = stage.told;
      this.kinds = new Set();
      this.view.replaceChildren();
      this.svg = make(this.view, "svg", { role: "img" });
      this.size = this.sheet(this.svg, shown.sheet, "");
      this.widest = Math.max(this.widest, this.size[0]);
      this.main.style.setProperty("--wide", this.widest + 2 * PAD + BAR);
      this.zoom ??= Math.max(READABLE, this.fitting());
      this.scale(this.zoom);
      this.look(looked);
      this.explainKinds();
      this.explain();
      this.choose(this.chosen);
    }

    // The first node in view, or the one given, and where it is on the screen.
    looked(path = null) {
      const around = this.view.getBoundingClientRect();
      for (const group of this.view.querySelectorAll(".node")) {
        const { left, right, top } = group.getBoundingClientRect();
        const inView = top >= around.top && left >= around.left && right <= around.right;
        if (path ? group.dataset.path === path : inView && top <= around.bottom)
          return { path: group.dataset.path, left, top };
      }
      return null;
    }

    look(looked) {
      const found = looked && this.looked(looked.path);
      if (found) return this.view.scrollBy(found.left - looked.left, found.top - looked.top);
      const first = this.view.querySelector(".node");
      if (!first) return;
      const { left, right } = first.getBoundingClientRect(), around = this.view.getBoundingClientRect();
      this.view.scrollBy((left + right - around.left - around.right) / 2, 0);
    }

    fitting() {
      const wide = this.view.clientWidth || 900;
      return Math.min(1, Math.max(0.3, wide / (this.size[0] + 2 * PAD + 4)));
    }

    scale(zoom) {
      this.zoom = zoom;
      const [wide, tall] = [this.size[0] + 2 * PAD, this.size[1] + 2 * PAD];
      this.svg.setAttribute("viewBox", `${-PAD} ${-PAD} ${wide} ${tall}`);
      this.svg.setAttribute("width", wide * zoom);
      this.svg.setAttribute("height", tall * zoom);
    }

    // What is in the middle stays there.
    rescale(zoom) {
      const { clientWidth: wide, clientHeight: tall, scrollLeft: x, scrollTop: y } = this.view;
      const times = zoom / this.zoom;
      this.scale(zoom);
      this.view.scrollTo((x + wide / 2) * times - wide / 2, (y + tall / 2) * times - tall / 2);
    }

    // Draw a sheet into a group; its size.
    sheet(parent, number, path) {
      const { nodes, kernels, edges, size } = this.data.sheets[number];
      const boxes = nodes.map((node) => ({ ...node, path: `${path}/${node.key}` }));
      for (const box of boxes)
        if (box.inside !== undefined && this.open.has(box.path)) {
          box.group = document.createElementNS(SVG, "g");
          const [wide, tall] = this.sheet(box.group, box.inside, box.path);
          box.grown = [Math.max(wide + 2 * PAD, box.at[2]), tall + HEAD + PAD];
        }
      const opened = boxes.filter((box) => box.grown);
      const axis = (k) => stretch(
        opened.map((b) => [b.at[k], b.at[k] + b.at[k + 2], b.grown[k] - b.at[k + 2]])
      );
      const [right, down] = [axis(0), axis(1)];
      for (const box of boxes) {
        const [x, y, wide, tall] = box.at, now = box.grown ?? [wide, tall];
        const middle = box.grown ? (right(x) + right(x + wide)) / 2 : right(x + wide / 2);
        box.now = [middle - now[0] / 2, down(y), ...now];
      }
      for (const kernel of kernels) this.kernel(parent, kernel, right, down);
      for (const edge of edges) this.edge(parent, edge, boxes, right, down);
      for (const box of boxes) this.node(parent, box);
      return [right(size[0]), down(size[1])];
    }

    kernel(parent, { at: [x, y, wide, tall], title, lines: texts, number, heat }, right, down) {
      const group = make(parent, "g", { class: "kernel", "data-kernel": number });
      make(group, "rect", {
        x: right(x), y: down(y), width: right(x + wide) - right(x), height: down(y + tall) - down(y), rx: 8,
        ...hot({ heat }),
      });
      lines(group, [], texts.map((t) => this.data.text[t]), right(title[0]), down(title[1]));
      group.onclick = () => this.choose(number);
    }

    edge(parent, { kind, route, tail, head }, boxes, right, down) {
      const points = [];
      for (let k = 0; k < route.length; k += 2) points.push([right(route[k]), down(route[k + 1])]);
      const meet = (end, box, side) => {
        const share = (route.at(end < 0 ? -2 : 0) - box.at[0]) / box.at[2];
        const x = box.now[0] + share * box.now[2];
        const next = end < 0 ? points.length - 2 : 1;
        points.at(end)[0] = points[next][0] = x;
        points.at(end)[1] = box.now[1] + side * box.now[3];
      };
      meet(0, boxes[tail], 1);
      meet(-1, boxes[head], 0);
      const [x, y] = points.at(-1);
      points.at(-1)[1] = y - 5;
      let way = `M${points[0]}`;
      for (let k = 1; k < points.length; k++) {
        const [a, b] = [points[k - 1], points[k]], middle = (a[1] + b[1]) / 2;
        way += a[0] === b[0] ? `V${b[1]}` : `C${a[0]},${middle} ${b[0]},${middle} ${b}`;
      }
      make(parent, "path", { class: `edge ${kind}`, d: way });
      make(parent, "path", { class: `head ${kind}`, d: `M${x - 3.5},${y - 7}h7l-3.5 7z` });
    }

    node(parent, box) {
      const { text } = this.data, [x, y, wide, tall] = box.now;
      const mark = this.mark(box);
      const sort = ["node", box.kind, mark ?? "", box.grown ? "open" : "", box.again ? "again" : ""];
      const group = make(parent, "g", { class: sort.join(" "), "data-kernel": box.kernel ?? "", "data-path": box.path });
      make(group, "rect", {
        x, y, width: wide, height: tall, rx: box.round ? Math.min(tall / 2, 14) : 3, ...hot(box),
      });
      const labels = box.label.map((t) => text[t]), details = box.details.map((t) => text[t]);
      const inner = Object.entries(box.inside === undefined ? {} : this.counted(box.inside));
      if (box.grown) {
        make(group, "text", { x: x + PAD, y: y + 16 }, `▾ ${labels[0]}`);
        box.group.setAttribute("transform", `translate(${x + PAD},${y + HEAD})`);
        group.appendChild(box.group);
      } else {
        const high = LEADING * (12 * labels.length + 10 * details.length);
        if (inner.length) details.splice(-1, 1, inner.map(([mark, n]) => `${n} ${spoken(mark)}`).join(", "));
        lines(group, labels, details, x + wide / 2, y + (tall - high) / 2);
        if (inner.length) group.lastChild.classList.add("mark");
      }
      this.kinds.add(box.kind);
      if (mark) this.kinds.add(mark);
      group.onclick = (event) => {
        event.stopPropagation();
        if (box.inside === undefined) return this.choose(box.kernel ?? null, box);
        const looked = this.looked(box.path);
        if (!this.open.delete(box.path)) this.open.add(box.path);
        this.draw(looked);
      };
      group.onpointerenter = () => this.explain(box);
    }

    // What became of a node, or how it came: by the pass, or for good.
    mark(node) {
      return this.marks[node.id] ?? node.mark;
    }

    // How many nodes in a sheet have each mark.
    counted(number, found = {}) {
      for (const node of this.data.sheets[number].nodes) {
        const mark = node.again ? undefined : this.mark(node);
        if (mark) found[mark] = (found[mark] ?? 0) + 1;
        if (node.inside !== undefined) this.counted(node.inside, found);
      }
      return found;
    }

    choose(kernel, box = null) {
      this.chosen = kernel;
      for (const group of this.svg.querySelectorAll("[data-kernel]"))
        group.classList.toggle("chosen", kernel !== null && group.dataset.kernel === `${kernel}`);
      if (box || kernel !== null) this.explain(box);
    }

    // What there is to say of a node, and the source of its kernel or of the one chosen.
    explain(box = null) {
      const { text, kernels } = this.data;
      this.side.replaceChildren();
      const mark = box && this.mark(box);
      if (box) {
        make(this.side, "h4", {}, box.label.map((t) => text[t]).join(" "));
        const told = [...box.details, ...(box.hint ?? [])].map((t) => text[t]);
        if (mark) told.unshift(`${spoken(mark)} ${this.slider ? `by ${this.data.stages[this.at].name}` : ""}`);
        make(this.side, "p", {}, told.join("\n"));
      }
      const kernel = box?.kernel ?? (box ? null : this.chosen);
      if (kernel === null || kernel === undefined) {
        if (!box) make(this.side, "p", {}, "Point at a node to read about it; click on a kernel for its code, on a layer to open it.");
        return;
      }
      make(this.side, "h4", {}, `kernel ${kernel}`);
      if (kernels[kernel]) make(this.side, "pre", {}, kernels[kernel]);
    }

    explainKinds() {
      this.legend.replaceChildren();
      for (const [kind, name] of Object.entries(this.data.legend)) {
        if (!this.kinds.has(kind)) continue;
        const entry = make(this.legend, "span");
        const group = make(make(entry, "svg", { width: 18, height: 12 }), "g", { class: `node ${kind}` });
        make(group, "rect", { x: 1.5, y: 1.5, width: 15, height: 9, rx: 3 });
        entry.append(name);
      }
    }
  }

  for (const host of document.querySelectorAll("div.deepgraph:not([data-drawn])")) {
    host.dataset.drawn = "";
    new Widget(host, JSON.parse(host.querySelector("script").textContent));
  }
})();
