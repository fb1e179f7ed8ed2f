// Keeps the progress of a bulk upload up to date on its page.
// Without this file a reload shows the same.
"use strict";

(() => {
  const SECONDS_BETWEEN = 2;

  function show(section, counts) {
    const bar = section.querySelector("progress");
    bar.max = Math.max(counts.files, 1);
    bar.value = counts.decided;
    section.querySelector("[data-taken]").textContent =
      `${counts.waiting} of ${counts.files} files wait to be taken; ` +
      `${counts.moving} are being read or indexed.`;
    const problem = section.querySelector("[data-problem]");
    problem.textContent = counts.problem;
    problem.hidden = !counts.problem;
    section.dataset.moving = String(counts.is_moving);
    section.querySelector("[data-reload-note]").hidden = counts.is_moving;
  }

  async function poll() {
    const section = document.querySelector('[data-batch][data-moving="true"]');
    if (!section) return;
    try {
      const response = await fetch(section.dataset.statusUrl, {
        headers: { Accept: "application/json" },
        redirect: "error", // a log-in page is no status
      });
      if (!response.ok) return; // logged out: stop asking
      show(section, await response.json());
    } catch {
      // The server is away for a moment: the next turn asks again.
    }
    setTimeout(poll, SECONDS_BETWEEN * 1000);
  }

  document.addEventListener("DOMContentLoaded", () => setTimeout(poll, SECONDS_BETWEEN * 1000));
})();
