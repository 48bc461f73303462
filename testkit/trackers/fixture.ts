import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ExternalTracker } from "../../src/domain/tracker/tracker.ts";

/** A tracker in a project: real files, and a real program which does what the test says. */
export interface TrackerFixture {
  readonly program: string;
  /** A PATH on which the program, the shell and git are found, and no other tracker that we know of. */
  readonly path: string;
  /** Makes the tracker's files; the program answers by running this shell text. */
  answers(root: string, script: string): void;
  /** Shell text that prints a list of these ready tasks in the tracker's own form. */
  ready(...ids: readonly string[]): string;
  /** How often the program was started in this project. */
  asked(root: string): number;
}

/** A PATH on which no tracker is found. */
export const plainPath = "/usr/bin:/bin";

export const trackerFixtures: Readonly<Record<ExternalTracker, TrackerFixture>> = {
  beads: fixture("beads", "bd", (issues) =>
    issues.map(({ type, ...rest }) => ({ ...rest, issue_type: type, created_at: "2026-01-01T00:00:00Z" })),
  ),
  seeds: fixture("seeds", "sd", (issues) => ({ success: true, command: "ready", issues, count: issues.length })),
};

/** Shell text that prints these words as they are. */
export const prints = (words: string): string => `cat <<'END_OF_ANSWER'\n${words}\nEND_OF_ANSWER\n`;

interface Issue {
  readonly id: string;
  readonly title: string;
  readonly status: string;
  readonly priority: number;
  readonly type: string;
}

function fixture(name: ExternalTracker, program: string, form: (issues: readonly Issue[]) => unknown): TrackerFixture {
  const directory = `.${name}`;
  return {
    program,
    path: `${join(import.meta.dir, name)}:${plainPath}`,
    answers: (root, script) => {
      mkdirSync(join(root, directory), { recursive: true });
      writeFileSync(join(root, directory, "answer"), script);
    },
    ready: (...ids) =>
      prints(
        JSON.stringify(form(ids.map((id) => ({ id, title: `Do ${id}`, status: "open", priority: 2, type: "task" })))),
      ),
    asked: (root) => {
      const file = join(root, directory, "asked");
      return existsSync(file) ? readFileSync(file, "utf8").split("\n").length - 1 : 0;
    },
  };
}
