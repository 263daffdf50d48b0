// Any touch or key stops a knob that plays: it presses the stop button, which is there only then.
(() => {
  if (window.spearTouch) return;
  window.spearTouch = (event) => {
    const stop = document.querySelector('[class*="st-key-stop_"] button');
    if (stop && event.isTrusted && !stop.contains(event.target)) stop.click();
  };
  for (const kind of ["pointerdown", "keydown"])
    document.addEventListener(kind, window.spearTouch, { capture: true });
})();
