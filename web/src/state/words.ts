/** How figures, times and names are written. Nothing here knows the page. */

export const money = (usd: number | null | undefined): string => {
  if (usd === null || usd === undefined) return "not reported";
  if (usd > 0 && usd < 0.005) return "<$0.01";
  return usd >= 1000 ? `$${Math.round(usd).toLocaleString("en-US")}` : `$${usd.toFixed(2)}`;
};

const units = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "m"],
  [1000, "s"],
] as const;

/** An age in one unit: `2s`, `6m`, `2h`, `3d`. */
export function shortAge(ms: number): string {
  const [size, unit] = units.find(([each]) => ms >= each) ?? units[3];
  return `${Math.max(0, Math.floor(ms / size))}${unit}`;
}

/** A length of time in words: `42 s`, `6 min`, `1 h 22 min`. */
export function span(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} d`;
}

/** A stopwatch: `0:42`, `12:03`, `1:04:10`. */
export function stopwatch(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const two = (value: number): string => String(value).padStart(2, "0");
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}

let hour12 = false;

/** Whether moments are written with the twelve hours of a clock. */
export const writeTwelveHours = (on: boolean): void => {
  hour12 = on;
};

export const clockTime = (at: string | number): string =>
  new Date(at).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit", hour12 });

/** A moment with date, seconds and zone, for titles. */
export const exactTime = (at: string | number): string =>
  new Date(at).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "long", hour12 });

export const count = (number: number, one: string, many = `${one}s`): string =>
  `${number} ${number === 1 ? one : many}`;

export const shortCommit = (commit: string | null | undefined): string => commit?.slice(0, 6) ?? "";

/** Tokens and other large figures: `940`, `14k`, `2.1M`. */
export function amount(value: number): string {
  if (value < 1000) return String(value);
  if (value < 999_500) return `${value < 10_000 ? (value / 1000).toFixed(1) : Math.round(value / 1000)}k`;
  return `${(value / 1_000_000).toFixed(1)}M`;
}
