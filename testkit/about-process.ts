import { readFileSync } from "node:fs";

/** What the system tells of a process, such as its `cmdline`; nothing once it is gone, or where it is another user's. */
export function aboutProcess(pid: number, what: string): string {
  try {
    return readFileSync(`/proc/${pid}/${what}`, "latin1");
  } catch {
    return "";
  }
}

/** Waits until a process sleeps, and was not awake between two looks: it waits for another process. */
export async function untilAsleep(pid: number): Promise<void> {
  const rest = (): string | undefined =>
    /^State:\s+S.*^voluntary_ctxt_switches:\s+(\d+)/ms.exec(aboutProcess(pid, "status"))?.[1];
  for (let before: string | undefined; ; before = rest()) {
    await Bun.sleep(10);
    if (before !== undefined && before === rest()) return;
  }
}
