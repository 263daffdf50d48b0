// One entry in the browser's history a run of the page. Streamlit adds one for the path of a page
// that is opened and another for its query, so Back would lead to the page's bare address first.
(() => {
  if (window.spearHistory) return;
  const push = window.history.pushState.bind(window.history);
  const state = "data-test-script-state";
  const running = () => !document.querySelector(`[${state}=notRunning]`);
  let added = running(); // of the first run: the address that was opened is its entry
  window.history.pushState = (...entry) => {
    if (added) window.history.replaceState(...entry);
    else push(...entry);
    added = true;
  };
  window.spearHistory = new MutationObserver(() => {
    if (!running()) added = false;
  });
  window.spearHistory.observe(document.body, {
    attributes: true,
    attributeFilter: [state],
    subtree: true,
  });
})();
