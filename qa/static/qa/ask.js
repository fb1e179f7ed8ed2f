/* Upgrades the ask page from a form that posts to an answer that streams.

   Without this file everything works: the form posts and a whole page answers. Texts reach the
   page through textContent alone, never as markup. A stream is finished only when one of
   `answer`, `refused`, `retracted` or `error` has come; any other end is a lost connection. */

"use strict";

(() => {
  const FINAL = new Set(["answer", "refused", "retracted", "error"]);
  const form = document.getElementById("ask-form");
  const texts = JSON.parse(document.getElementById("ask-texts")?.textContent ?? "{}");

  const field = (root, name) => root.querySelector(`[data-field="${name}"]`);

  const show = (element, isShown) => {
    element.hidden = !isShown;
  };

  const write = (root, name, text) => {
    const element = field(root, name);
    element.textContent = text ?? "";
    return element;
  };

  const filled = (pattern, values) =>
    pattern.replace(/%\((\w+)\)s/g, (_, name) => String(values[name]));

  const cloned = (id) => document.getElementById(id).content.firstElementChild.cloneNode(true);

  /* --- What the server's shown.py does for the page without script ---------------------- */

  const dates = new Intl.DateTimeFormat(
    document.documentElement.lang.startsWith("zh") ? "zh-Hant-TW" : "en-GB",
    { dateStyle: "long", timeZone: "UTC" },
  );
  const day = (text) => dates.format(new Date(`${text}T00:00:00Z`));

  const daysOf = (source) =>
    source.effective_to
      ? filled(texts.between, { first: day(source.effective_from), last: day(source.effective_to) })
      : filled(texts.since, { first: day(source.effective_from) });

  const headingOf = (section) =>
    section.section_title.startsWith(section.section_id)
      ? section.section_title
      : `${section.section_id} ${section.section_title}`;

  const pathOf = (url) => new URL(url, location.origin).pathname;

  const ITEM = /^([-*•|]\s|\(?[\p{L}\p{N}]{1,3}[.)]\s|\d+(\.\d+)+\s|\S+:\s.*;)/u;
  const CJK = /[\u2e80-\u9fff\uff00-\uffef]/;

  const isWrapped = (before, line) =>
    before.length >= 55 &&
    line.trim() !== "" &&
    !ITEM.test(line) &&
    line[0] !== " " &&
    !CJK.test(line[0]) &&
    !CJK.test(before.at(-1));

  /* An editor's line breaks inside a sentence become blanks; the length stays. */
  const reflowed = (text) => {
    const lines = text.split("\n");
    return lines.reduce(
      (joined, line, i) => joined + (isWrapped(lines[i - 1], line) ? " " : "\n") + line,
    );
  };

  /* Own addresses only: what is not a path of this site leads nowhere. */
  const ownAddress = (url) => (/^\/(?!\/)/.test(url) ? url : "#");

  /* --- One answer on the page ------------------------------------------------------------ */

  class AnswerView {
    constructor(place, question) {
      this.root = cloned("answer-template");
      this.claims = [];
      this.sources = [];
      this.root.querySelector(".answer-question").textContent = question;
      place.replaceChildren(this.root);
      this.say(texts.working);
    }

    say(text) {
      write(this.root, "status-line", text);
    }

    alert(text, link) {
      const note = write(this.root, "alert", text);
      if (link) {
        note.append(" ", link);
      }
      show(note, true);
    }

    step({ name, status, ms }) {
      const item = this.root.querySelector(`.step[data-name="${CSS.escape(name)}"]`);
      if (!item) {
        return;
      }
      item.dataset.status = status;
      write(item, "status", texts.statuses[status] ?? status);
      const isTimed = status !== "running" && status !== "skipped";
      write(item, "ms", isTimed ? `${Math.round(ms)} ms` : "");
      const next = item.nextElementSibling;
      if (status === "ok" && next?.dataset.status === "waiting") {
        next.dataset.status = "running";
        write(next, "status", texts.statuses.running);
      }
    }

    stopSteps() {
      for (const item of this.root.querySelectorAll('.step[data-status="running"]')) {
        item.dataset.status = "waiting";
        write(item, "status", "");
      }
    }

    setSources(sources) {
      this.sources = sources;
      this.drawSources();
    }

    addClaim(claim) {
      this.claims.push(claim);
      field(this.root, "claims").append(this.claimElement(claim));
      this.drawSources();
    }

    /* The outcome in full replaces whatever was shown while it came. */
    finish(outcome) {
      this.claims = outcome.claims;
      this.sources = outcome.sources;
      const list = field(this.root, "claims");
      if (!this.isAsShown(list, outcome.claims)) {
        list.replaceChildren(...outcome.claims.map((claim) => this.claimElement(claim)));
      }
      this.drawSources();
      for (const step of outcome.steps) {
        this.step(step);
      }
      this.stopSteps();
      this.drawFacts(outcome);
    }

    /* Drawing an unchanged answer again would make a screen reader read it twice. */
    isAsShown(list, claims) {
      const shown = [...list.querySelectorAll(".claim")];
      const marks = (claim) => claim.citations.map((citation) => citation.n).join();
      return (
        shown.length === claims.length &&
        claims.every(
          (claim, i) =>
            shown[i].querySelector(".claim-text").textContent === claim.text &&
            [...shown[i].querySelectorAll(".badge")].map((b) => b.textContent).join() ===
              marks(claim),
        )
      );
    }

    drawFacts(outcome) {
      write(this.root, "as_of", filled(texts.asked_of, { day: day(outcome.as_of) }));
      if (outcome.confidence) {
        const tag = write(this.root, "confidence", texts.confidence[outcome.confidence]);
        tag.classList.add({ high: "good", medium: "warn", low: "bad" }[outcome.confidence]);
        show(tag, true);
      }
      const link = field(this.root, "link");
      link.href = `/history/${encodeURIComponent(outcome.id)}/`;
      show(link, true);
      const notices = outcome.notices.map((notice) => {
        const item = document.createElement("li");
        item.textContent = texts.notices[notice] ?? notice;
        return item;
      });
      field(this.root, "notices").replaceChildren(...notices);
      if (outcome.refusal) {
        field(this.root, "looked-at-box").open = true;
        field(this.root, "refusal").replaceChildren(this.refusalElement(outcome.refusal));
      }
    }

    /* Nothing that began to appear stays. */
    clear() {
      this.claims = [];
      this.sources = [];
      for (const name of ["claims", "cited", "looked-at", "notices", "refusal"]) {
        field(this.root, name).replaceChildren();
      }
    }

    keyOf(citation) {
      const quotes = this.claims.flatMap((claim) => claim.citations);
      const seen = [...new Set(quotes.map((c) => JSON.stringify([c.n, c.quote])))];
      return `q${seen.indexOf(JSON.stringify([citation.n, citation.quote])) + 1}`;
    }

    claimElement(claim) {
      const element = cloned("claim-template");
      element.querySelector(".claim-text").textContent = claim.text;
      for (const citation of claim.citations) {
        const badge = document.createElement("a");
        const label = `${citation.document}, ${headingOf(citation)}`;
        badge.className = "badge";
        badge.href = `#source-${citation.n}`;
        badge.dataset.key = this.keyOf(citation);
        badge.title = label;
        badge.setAttribute("aria-label", filled(texts.badge, { n: citation.n, label }));
        badge.textContent = String(citation.n);
        element.append(badge);
      }
      return element;
    }

    drawSources() {
      const citations = this.claims.flatMap((claim) => claim.citations);
      const drawn = this.sources.map((source) => {
        const own = citations.filter((c) => pathOf(c.url) === pathOf(source.url));
        return { n: own[0]?.n ?? null, element: this.sourceElement(source, own) };
      });
      const cited = drawn.filter(({ n }) => n !== null).sort((a, b) => a.n - b.n);
      const others = drawn.filter(({ n }) => n === null);
      field(this.root, "cited").replaceChildren(...cited.map(({ element }) => element));
      field(this.root, "looked-at").replaceChildren(...others.map(({ element }) => element));
      show(field(this.root, "answer-title"), this.claims.length > 0);
      show(field(this.root, "cited-title"), cited.length > 0);
      show(field(this.root, "looked-at-box"), others.length > 0);
      write(this.root, "looked-at-count", String(others.length));
    }

    sourceElement(source, citations) {
      const element = cloned("source-template");
      const n = citations[0]?.n;
      if (n !== undefined) {
        element.id = `source-${n}`;
        const badge = element.querySelector(".source-n");
        badge.textContent = String(n);
        show(badge, true);
      }
      write(element, "document", source.document);
      write(element, "heading", headingOf(source));
      write(element, "version", filled(texts.version, { number: source.version }));
      write(element, "days", daysOf(source));
      const parents = source.section_path.slice(0, -1);
      const path = parents.filter((name) => name !== source.document).join(" › ");
      show(write(element, "path", path), path !== "");
      field(element, "text").replaceChildren(...this.pieces(source.text, citations));
      show(field(element, "review"), source.has_pending_review);
      field(element, "url").href = ownAddress(citations[0]?.url ?? source.url);
      const policy = encodeURIComponent(source.policy);
      field(element, "policy_url").href = `/policies/${policy}/?as_of=${source.effective_from}`;
      return element;
    }

    /* The text cut where a quote begins or ends; a quote that is not in it marks nothing. */
    pieces(text, citations) {
      const spans = citations
        .map((c) => ({ start: text.indexOf(c.quote), size: c.quote.length, key: this.keyOf(c) }))
        .filter(({ start, size }) => start >= 0 && size > 0)
        .map(({ start, size, key }) => ({ start, end: start + size, key }));
      const bounds = [0, text.length, ...spans.flatMap(({ start, end }) => [start, end])];
      const edges = [...new Set(bounds)].sort((a, b) => a - b);
      const flowing = reflowed(text);
      return edges.slice(0, -1).map((a, i) => {
        const b = edges[i + 1];
        const keys = spans.filter(({ start, end }) => start <= a && b <= end);
        const words = document.createTextNode(flowing.slice(a, b));
        if (keys.length === 0) {
          return words;
        }
        const mark = document.createElement("mark");
        mark.dataset.quotes = [...new Set(keys.map(({ key }) => key))].join(" ");
        mark.append(words);
        return mark;
      });
    }

    refusalElement(refusal) {
      const element = cloned("refusal-template");
      const row = (name, isShown) => show(element.querySelector(`[data-row="${name}"]`), isShown);
      write(element, "reason", texts.reasons[refusal.code] ?? refusal.code);
      write(element, "message", refusal.message);
      write(element, "code", refusal.code);
      row("score", refusal.threshold !== null);
      if (refusal.threshold !== null) {
        const score = refusal.top_score ?? 0;
        field(element, "meter").value = score;
        write(element, "top_score", score.toFixed(2));
        write(element, "threshold", refusal.threshold.toFixed(2));
      }
      row("missing", Boolean(refusal.missing));
      write(element, "missing", refusal.missing);
      row("ask", Boolean(refusal.ask));
      write(element, "ask", refusal.ask);
      row("looked_at", refusal.looked_at.length > 0);
      const titles = refusal.looked_at.map((title) => {
        const item = document.createElement("li");
        item.textContent = title;
        return item;
      });
      field(element, "looked_at").replaceChildren(...titles);
      return element;
    }
  }

  /* --- The stream ------------------------------------------------------------------------ */

  const parsed = (block) => {
    let name = "message";
    const data = [];
    for (const line of block.split(/\r\n|\n|\r/)) {
      if (line.startsWith("event:")) {
        name = line.slice(6).trim();
      } else if (line.startsWith("data:")) {
        data.push(line.slice(5).replace(/^ /, ""));
      }
    }
    return data.length > 0 ? { name, data: JSON.parse(data.join("\n")) } : null;
  };

  /* Events as they arrive; comments (heartbeats) and a cut-off last block give none. */
  async function* eventsOf(response) {
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let held = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) {
        return;
      }
      held += value;
      const blocks = held.split(/\r\n\r\n|\n\n|\r\r/);
      held = blocks.pop();
      for (const event of blocks.map(parsed)) {
        if (event) {
          yield event;
        }
      }
    }
  }

  const handlers = {
    step: (view, data) => view.step(data),
    sources: (view, data) => view.setSources(data.sources),
    claim: (view, data) => view.addClaim(data),
    answer: (view, data) => {
      view.finish(data);
      view.say(texts.answered);
    },
    refused: (view, data) => {
      view.clear();
      view.finish(data);
      view.say(texts.refused);
    },
    retracted: (view, data) => {
      view.clear();
      view.finish(data);
      view.say(texts.refused);
      view.alert(texts.retracted);
    },
    error: (view, problem) => {
      view.clear();
      view.drawSources();
      view.stopSteps();
      view.say("");
      view.alert(problem.detail ?? texts.server);
    },
  };

  /* Read to the end; true when the stream said itself how it ended. */
  const consume = async (response, view) => {
    for await (const { name, data } of eventsOf(response)) {
      handlers[name]?.(view, data);
      if (FINAL.has(name)) {
        return true;
      }
    }
    return false;
  };

  const loginLink = () => {
    const link = document.createElement("a");
    link.href = form.dataset.login;
    link.target = "_blank";
    link.rel = "noopener";
    link.textContent = texts.log_in;
    return link;
  };

  /* What the server said instead of a stream. */
  const explain = async (response, view) => {
    view.stopSteps();
    view.say("");
    if (response.status === 401 || response.status === 403) {
      view.alert(texts.signed_out, loginLink());
    } else if (response.status === 429) {
      const seconds = response.headers.get("Retry-After") ?? "60";
      view.alert(filled(texts.too_many, { seconds }));
    } else {
      const problem = await response.json().catch(() => ({}));
      view.alert(problem.detail ?? texts.server);
    }
  };

  const breakOff = (view, text) => {
    view.root.classList.add("is-incomplete");
    view.stopSteps();
    view.say("");
    view.alert(text);
  };

  /* Read at each question: logging in again in another tab changes it. */
  const csrfToken = () =>
    document.cookie.match(/(?:^|;\s*)csrftoken=([^;]+)/)?.[1] ??
    form.elements.csrfmiddlewaretoken.value;

  const post = (body, signal) =>
    fetch(form.dataset.stream, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        Accept: "text/event-stream",
        "X-CSRFToken": csrfToken(),
      },
      body: JSON.stringify(body),
      signal,
    });

  /* --- The form -------------------------------------------------------------------------- */

  const upgrade = () => {
    const box = form.elements.question;
    const asOf = form.elements.as_of;
    const count = document.getElementById("question-count");
    const error = document.getElementById("id_question_error");
    const submit = document.getElementById("ask-submit");
    const stop = document.getElementById("ask-stop");
    const max = Number(box.dataset.max);
    let running = null;

    const length = () => [...box.value.trim()].length;

    const recount = () => {
      const over = length() - max;
      count.classList.toggle("is-over", over > 0);
      count.textContent =
        over > 0
          ? filled(texts.too_long, { over })
          : filled(texts.count, { used: length(), max });
      if (over <= 0) {
        show(error, false);
        box.removeAttribute("aria-invalid");
      }
    };

    const complain = (text) => {
      error.textContent = text;
      show(error, true);
      box.setAttribute("aria-invalid", "true");
      box.focus();
    };

    const setBusy = (isBusy) => {
      show(stop, isBusy);
      submit.disabled = isBusy;
    };

    const ask = async (question) => {
      running?.abort();
      const controller = new AbortController();
      running = controller;
      document.querySelectorAll("#ask-examples, .ask-intro .lead").forEach((e) => e.remove());
      const view = new AnswerView(document.getElementById("result"), question);
      setBusy(true);
      try {
        const body = asOf.value ? { question, as_of: asOf.value } : { question };
        const response = await post(body, controller.signal);
        if (!response.ok) {
          await explain(response, view);
        } else if (!(await consume(response, view))) {
          breakOff(view, texts.broken);
        }
      } catch (failure) {
        const isStopped = failure.name === "AbortError";
        const text = isStopped ? texts.stopped : texts.broken;
        breakOff(view, view.sources.length > 0 || isStopped ? text : texts.unreachable);
      } finally {
        if (running === controller) {
          running = null;
          setBusy(false);
        }
      }
    };

    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const example = event.submitter?.name === "example" ? event.submitter.value : null;
      if (example) {
        box.value = example;
        recount();
      }
      const question = box.value.trim();
      if (question === "") {
        complain(texts.empty);
      } else if (length() > max) {
        complain(filled(texts.too_long, { over: length() - max }));
      } else {
        ask(question);
      }
    });
    box.addEventListener("input", recount);
    box.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
        event.preventDefault();
        form.requestSubmit(submit);
      }
    });
    stop.addEventListener("click", () => running?.abort());
    document.getElementById("question-hint").textContent += ` ${texts.enter}`;
    recount();
  };

  /* --- Badges: from a claim to its words in the source, and back ------------------------- */

  const openQuote = (badge) => {
    const source = document.getElementById(badge.hash.slice(1));
    if (!source) {
      return false;
    }
    for (const old of document.querySelectorAll(".badge[aria-current]")) {
      old.removeAttribute("aria-current");
    }
    for (const old of document.querySelectorAll(".source.is-active, mark.is-active")) {
      old.classList.remove("is-active");
    }
    badge.setAttribute("aria-current", "true");
    source.classList.add("is-active");
    source.focus({ preventScroll: true });
    source.scrollIntoView({ block: "nearest" });
    const marks = [...source.querySelectorAll("mark")].filter((mark) =>
      mark.dataset.quotes.split(" ").includes(badge.dataset.key),
    );
    marks.forEach((mark) => mark.classList.add("is-active"));
    marks[0]?.scrollIntoView({ block: "nearest" });
    return true;
  };

  document.addEventListener("click", (event) => {
    const badge = event.target.closest?.(".badge");
    if (badge && openQuote(badge)) {
      event.preventDefault();
    }
  });
  document.addEventListener("keydown", (event) => {
    const source = event.target.closest?.(".source.is-active");
    if (event.key === "Escape" && source) {
      document.querySelector(".badge[aria-current]")?.focus();
    }
  });

  if (form && "TextDecoderStream" in window) {
    upgrade();
  }
})();
