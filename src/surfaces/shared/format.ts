export { duration, iso } from "../../contract/values.ts";

/** How long ago: `5s ago`, `3m ago`, `2h ago`, `4d ago`; `just now` for what another clock puts in the future. */
export function ago(then: number, now: number): string {
  const seconds = Math.floor((now - then) / 1000);
  if (seconds < 0) return "just now";
  if (seconds < 60) return `${seconds}s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)}h ago`;
  return `${Math.floor(seconds / 86_400)}d ago`;
}

/** The time of day where the reader is: `14:03:59`. */
export const timeOfDay = (at: number): string => local(at).slice(11);

/** The day where the reader is: `2026-11-14`. */
export const day = (at: number): string => local(at).slice(0, 10);

/** A moment where the reader is, as short as it can be: `14:03` today, `Nov 14 14:03` this year, else with the year. */
export function shortTime(at: number, now: number): string {
  const [then, today] = [local(at), local(now)];
  const time = then.slice(11, 16);
  if (then.slice(0, 10) === today.slice(0, 10)) return time;
  const day = `${months[Number(then.slice(5, 7)) - 1]} ${Number(then.slice(8, 10))}`;
  return then.slice(0, 4) === today.slice(0, 4) ? `${day} ${time}` : `${day} ${then.slice(0, 4)} ${time}`;
}

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"] as const;

/** `2026-11-14 14:03:59` by the clock on the wall. */
function local(at: number): string {
  const offsetMs = new Date(at).getTimezoneOffset() * 60_000;
  return new Date(at - offsetMs).toISOString().slice(0, 19).replace("T", " ");
}

/** How long a command took: `35ms`, `1.20s`. */
export function elapsed(ms: number): string {
  const whole = Math.max(0, Math.round(ms));
  return whole < 1000 ? `${whole}ms` : `${(whole / 1000).toFixed(2)}s`;
}

/** At most `most` characters, the last one an ellipsis when something was left out. */
export function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  const characters = [...text];
  return characters.length <= most ? text : `${characters.slice(0, Math.max(0, most - 1)).join("")}…`;
}

/** `1 message`, `2 messages`. */
export const counted = (count: number, noun: string, many = `${noun}s`): string =>
  `${count} ${count === 1 ? noun : many}`;

/** A moment where the reader is, or a dash for none. */
export const moment = (at: number | null): string => (at === null || at === 0 ? "-" : shortTime(at, Date.now()));

/** Agents that were started again under their name are told apart by the number of the time. */
export const generationName = ({ name, generation }: { readonly name: string; readonly generation: number }): string =>
  generation === 1 ? name : `${name} (${generation})`;
