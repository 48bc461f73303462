import { writeSync } from "node:fs";

/** Writes to the service's log. Never throws: the log may be on the very disk that is full. */
export function say(text: string): void {
  try {
    writeSync(2, text);
  } catch {
    // Nobody is left to tell; what the service does about its trouble matters more than its words.
  }
}
