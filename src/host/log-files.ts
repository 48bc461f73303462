import { closeSync, fstatSync, readSync, renameSync, truncateSync, writeFileSync, writeSync } from "node:fs";
import { type Redact, redactor } from "../domain/text/redact.ts";
import { openRegular } from "./file-access.ts";

/** So much of a log stays, in the file beside it. */
const keptBytes = 1024 * 1024;

/**
 * Cuts a log that has grown: its end goes to `<file>.1`, which replaces the one before, and the log starts again. Programs
 * that have it open go on writing: they append, so the next line is the first of the emptied file.
 */
export function cutLog(file: string): void {
  const log = openRegular(file, Number.MAX_SAFE_INTEGER);
  if (log === undefined) return;
  try {
    const { size } = fstatSync(log);
    if (size <= keptBytes) return;
    const end = Buffer.alloc(keptBytes);
    const read = readSync(log, end, 0, keptBytes, size - keptBytes);
    const isWhole = end.indexOf(0x0a) + 1;
    // In two steps: if the process is killed between them, the end of the log stands there twice, and the next cut
    // mends that.
    writeFileSync(`${file}.new`, end.subarray(isWhole, read), { mode: 0o600 });
    renameSync(`${file}.new`, `${file}.1`);
    truncateSync(file, 0);
  } finally {
    closeSync(log);
  }
}

/** The log is the standard error of the process, so there is one of it, and one way to take secrets out of it. */
let withoutSecrets: Redact = redactor([]);

/** From now on this takes secrets out of the lines of the log. Before, only their shape tells them. */
export function redactLog(redact: Redact): void {
  withoutSecrets = redact;
}

/** Writes to the service's log. Never throws: the log may be on the very disk that is full. */
export function say(text: string): void {
  try {
    writeSync(2, withoutSecrets(text));
  } catch {
    // Standard error is the last place to report to. The service must go on although the line is lost.
  }
}
