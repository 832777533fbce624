// Whether somebody is using the page: what the page does by itself must not keep a session alive.

/** Milliseconds. */
const activeFor = 60_000;
let lastInput = Date.now();

for (const type of ["pointerdown", "keydown", "wheel"]) {
  window.addEventListener(
    type,
    () => {
      lastInput = Date.now();
    },
    { capture: true, passive: true },
  );
}

export const isUserActive = (): boolean => Date.now() - lastInput < activeFor;
