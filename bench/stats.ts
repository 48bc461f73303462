/** The value below which this share of the samples lies. */
export function quantile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export const median = (samples: readonly number[]): number => quantile(samples, 0.5);

export const ms = (value: number): string => `${value.toFixed(1)} ms`;
export const times = (value: number): string => `${value.toFixed(2)} x`;

/** One line of a table with aligned columns. */
export const row = (first: string, ...rest: readonly string[]): string =>
  `${first.padEnd(42)}${rest.map((cell) => cell.padStart(12)).join("")}`;

/** `ok` or `MISSED`, so that a reader need not compare numbers. */
export const verdict = (value: number, limit: number): string => (value <= limit ? "ok" : "MISSED");
