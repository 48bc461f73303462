/** How views write a moment: ISO-8601 in UTC, and null where there is none. */
export function iso(at: number): string;
export function iso(at: number | null): string | null;
export function iso(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}

/** The same where the store writes 0 for "no moment". */
export const isoUnlessZero = (at: number | null): string | null => (at === 0 ? null : iso(at));

/** A length of time in two units at most: `0s`, `12s`, `3m 45s`, `2h`. Parts of a second are dropped. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return pair(minutes, "m", seconds % 60, "s");
  return pair(Math.floor(minutes / 60), "h", minutes % 60, "m");
}

const pair = (large: number, largeUnit: string, small: number, smallUnit: string): string =>
  small === 0 ? `${large}${largeUnit}` : `${large}${largeUnit} ${small}${smallUnit}`;
