// Any touch or key stops a knob that plays: it presses the stop button, which is there only then.
(() => {
  if (window.spearTouch) return;
  window.spearTouch = (event) => {
    const stop = document.querySelector('[class*="st-key-stop_"] button');
    if (stop && event.isTrusted && !stop.contains(event.target)) stop.click();
  };
  // once a first page is drawn, what is still being fetched takes no room (frame.py)
  const drawn = new MutationObserver(() => {
    if (!document.querySelector('[data-test-script-state="notRunning"]')) return;
    document.documentElement.classList.add("drawn");
    drawn.disconnect();
  });
  drawn.observe(document.body, { subtree: true, attributeFilter: ["data-test-script-state"] });
  for (const kind of ["pointerdown", "keydown"])
    document.addEventListener(kind, window.spearTouch, { capture: true });
})();
