import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { writeAtomically } from "./file-access.ts";

/** How long a browser that is slow to start has for reading the file. */
const readSeconds = 30;

/**
 * Opens an address with a login code in the browser of the user. Every user of this machine can read the command lines of
 * programs, so the opener is given a file that only this user can read, and that leads to the address. The file is deleted
 * afterwards. Best effort: where there is no browser, the address is on the terminal.
 */
export function openInBrowser(state: string, url: string, env: Readonly<Record<string, string | undefined>>): void {
  const opener = process.platform === "darwin" ? "open" : "xdg-open";
  const program = Bun.which(opener, { PATH: env.PATH ?? "" });
  if (program === null) return;
  const file = join(state, "run", `open-${randomUUID()}.html`);
  const target = JSON.stringify(url).replaceAll("<", "\\u003c");
  const text = `<!doctype html><meta charset="utf-8"><title>Overstory</title><script>location.replace(${target})</script>\n`;
  writeAtomically(file, text, 0o600);
  // A shell waits, because this command may be over before the browser has read the file.
  const line = `"$1" "$2"; sleep ${readSeconds}; rm -f -- "$3"`;
  Bun.spawn(["sh", "-c", line, "sh", program, pathToFileURL(file).href, file], {
    cwd: "/",
    stdio: ["ignore", "ignore", "ignore"],
  }).unref();
}
