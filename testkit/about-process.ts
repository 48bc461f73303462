import { readFileSync } from "node:fs";

/** What the system tells of a process, such as its `cmdline`; nothing once it is gone, or where it is another user's. */
export function aboutProcess(pid: number, what: string): string {
  try {
    return readFileSync(`/proc/${pid}/${what}`, "latin1");
  } catch {
    return "";
  }
}
