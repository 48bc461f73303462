/** Waits this long, or until it is over. */
export function rest(ms: number, over: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (over.aborted) return resolve();
    const timer = setTimeout(done, ms);
    over.addEventListener("abort", done, { once: true });
    function done(): void {
      clearTimeout(timer);
      over.removeEventListener("abort", done);
      resolve();
    }
  });
}
