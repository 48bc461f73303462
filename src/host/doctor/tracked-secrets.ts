import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { secretLines } from "../../domain/text/secret-lines.ts";
import type { TrackedSecrets } from "../../ports/project-survey.ts";
import { runGit, zeroEnded } from "../git/git.ts";

/** A text that a person wrote is smaller. */
const largestFile = 512 * 1024;
const mostBytes = 64 * 1024 * 1024;
const patienceMs = 1_500;
/** Who waits beside us is let through as often as this. */
const turnMs = 15;

/**
 * Looks for secrets in tracked files as they lie in the checkout: by their names, and in the lines of texts. Files in
 * which people keep settings are read first, because a large repository is not read to its end.
 */
export async function trackedSecrets(root: string): Promise<TrackedSecrets> {
  const tracked = await runGit({ cwd: root, args: ["ls-files", "-z"] });
  const paths = zeroEnded(tracked.raw).map((path) => path.toString("utf8"));
  const texts = paths.filter((path) => !isGenerated.test(path) && !isOfTests.test(path));
  const lines: { path: string; line: number }[] = [];
  let [large, late, bytes] = [0, 0, 0];
  const began = performance.now();
  let begun = began;
  for (const path of [...texts.filter(holdsSettings), ...texts.filter((one) => !holdsSettings(one))]) {
    const now = performance.now();
    if (bytes > mostBytes || now - began > patienceMs) {
      late++;
      continue;
    }
    if (now - begun > turnMs) {
      await new Promise((resolve) => setImmediate(resolve));
      begun = performance.now();
    }
    const read = textIn(join(root, path));
    if (read === "large") large++;
    if (typeof read !== "object") continue;
    bytes += read.text.length;
    lines.push(...secretLines(read.text).map((line) => ({ path, line })));
  }
  return {
    named: paths.filter((path) => secretName.test(path)),
    lines: lines.toSorted((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : a.line - b.line)),
    unread: { tests: paths.filter((path) => isOfTests.test(path)).length, large, late },
  };
}

/** Names under which people keep keys and passwords. Examples and templates are none. */
const secretName =
  /(^|\/)(\.env(\.(local|production|prod|secret))?|id_(rsa|dsa|ecdsa|ed25519)|\.npmrc\.auth|.+\.(pem|p12|pfx|keystore)|credentials(\.json)?|\.netrc)$/;

/** Written by programs, and full of checksums. */
const isGenerated = /(^|\/)(package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|go\.sum|[^/]+\.(lock|lockb|map))$/;

const isOfTests =
  /(^|\/)(tests?|__tests__|__mocks__|__snapshots__|specs?|fixtures?|testdata|testkit)\/|[._-](test|spec)\.[^/]+$|(^|\/)test_[^/]+$|\.snap$/i;

const settings =
  /(^|\/)\.[^/]+$|\.(env|ya?ml|json|toml|ini|cfg|conf|config|properties|tfvars|tf|sh|xml)$|secret|credential/i;
const holdsSettings = (path: string): boolean => settings.test(path);

/** One character for each byte. Undefined for what is no text, and for what is not there. */
function textIn(path: string): { readonly text: string } | "large" | undefined {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    // It was deleted, is a link, or is closed to us: git says so where it matters.
    return undefined;
  }
  try {
    const stat = fstatSync(file);
    if (!stat.isFile()) return undefined;
    if (stat.size > largestFile) return "large";
    const all = readFileSync(file);
    return all.includes(0) ? undefined : { text: all.toString("latin1") };
  } finally {
    closeSync(file);
  }
}
