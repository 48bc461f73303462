import type { Step } from "./fake-model/script.ts";
import type { FakeModel, SeenRequest } from "./fake-model/server.ts";
import { makeProject, type ProjectOptions, type TestProject } from "./project.ts";

/** A script for the fake model, to stand in a task or a message. */
export const scripted = (...steps: Step[]): string => `@@${JSON.stringify(steps)}@@`;

/** A project whose agents find the real CLI on their PATH. */
export const claudeProject = (binDir: string, options: ProjectOptions = {}): Promise<TestProject> =>
  makeProject({ ...options, env: { PATH: `${binDir}:${process.env.PATH}`, ...options.env } });

/** What a person has in the shell in which they sling. */
export const shellOf = ({ url }: FakeModel, { home }: TestProject): Record<string, string> => ({
  ANTHROPIC_BASE_URL: url,
  ANTHROPIC_API_KEY: "sk-fake-0123456789",
  CLAUDE_CODE_MAX_RETRIES: "3",
  // Otherwise it leaves sockets and directories in the system's place for them.
  CLAUDE_CODE_TMPDIR: home,
});

/** The requests of the agent's own conversation; the CLI may ask other things beside it. */
export const conversation = ({ seen }: FakeModel, from = 0): readonly SeenRequest[] =>
  seen.slice(from).filter(({ asked }) => (asked?.tools ?? []).length > 0);

/** Everything that a request says beside its tools, whatever kind of block it stands in. */
export function textOf(request: SeenRequest | undefined): string {
  const texts: string[] = [];
  const collect = (value: unknown): void => {
    if (typeof value === "string") texts.push(value);
    else if (typeof value === "object" && value !== null)
      for (const [key, item] of Object.entries(value)) if (key !== "tools") collect(item);
  };
  collect(request?.body);
  return texts.join("\n");
}
