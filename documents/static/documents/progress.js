// Keeps state and progress of versions up to date on admin pages.
// Without this file a reload shows the same.
"use strict";

(() => {
  const SECONDS_BETWEEN = 2;

  const moving = () => [...document.querySelectorAll('[data-version][data-moving="true"]')];

  function show(element, status) {
    const wasMoving = element.dataset.moving;
    element.dataset.moving = String(status.is_moving);
    element.querySelector("[data-state]").textContent = status.label;
    const bar = element.querySelector("progress");
    bar.max = Math.max(status.chunks, 1);
    bar.value = status.embedded;
    bar.hidden = status.chunks === 0;
    const count = element.querySelector("[data-count]");
    count.textContent = `${status.embedded} of ${status.chunks} passages`;
    count.hidden = status.chunks === 0;
    const failure = element.querySelector("[data-failure]");
    failure.textContent = status.failure;
    failure.hidden = !status.failure;
    const note = document.querySelector("[data-reload-note]");
    if (note && wasMoving === "true" && !status.is_moving) note.hidden = false;
  }

  async function poll() {
    const elements = moving();
    if (!elements.length) return;
    const query = new URLSearchParams(elements.map((e) => ["version", e.dataset.version]));
    try {
      const response = await fetch(`${elements[0].dataset.statusUrl}?${query}`, {
        headers: { Accept: "application/json" },
        redirect: "error", // a log-in page is no status
      });
      if (!response.ok) return; // logged out or no longer ours: stop asking
      const byId = new Map((await response.json()).versions.map((s) => [s.version, s]));
      for (const element of elements) {
        const status = byId.get(element.dataset.version);
        if (status) show(element, status);
        else element.dataset.moving = "false";
      }
    } catch {
      // The server is away for a moment: the next turn asks again.
    }
    setTimeout(poll, SECONDS_BETWEEN * 1000);
  }

  document.addEventListener("DOMContentLoaded", () => setTimeout(poll, SECONDS_BETWEEN * 1000));
})();
