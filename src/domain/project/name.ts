import { type InvalidInput, invalid } from "../refusal.ts";
import { no, ok, type Result } from "../result.ts";

export interface NameFacts {
  readonly typed: string | undefined;
  /** Address of the remote `origin`, as git has it. */
  readonly originUrl: string | undefined;
  readonly directory: string;
}

/** What a project is called: as typed, else like its repository at `origin`, else like its directory. */
export function projectName({ typed, originUrl, directory }: NameFacts): Result<string, InvalidInput> {
  if (typed === undefined) return ok(repositoryName(originUrl) ?? oneLine(directory) ?? "project");
  if (typed.trim() === "") return no(invalid("name", "must not be empty"));
  if (/\p{Cc}/u.test(typed)) {
    return no(invalid("name", "must be one line without control characters", { value: typed }));
  }
  return ok(typed.trim());
}

/** The last part of any address git understands: https, ssh, `host:path`, a path of either kind of system. */
function repositoryName(url: string | undefined): string | undefined {
  const last = url
    ?.replace(/[/\\]+$/, "")
    .replace(/[/\\:]\.git$/, "")
    .split(/[/\\:]/)
    .at(-1);
  return last === undefined ? undefined : oneLine(last.replace(/\.git$/, ""));
}

function oneLine(text: string): string | undefined {
  const shown = text.replaceAll(/\p{Cc}+/gu, "-").trim();
  return shown === "" ? undefined : shown;
}
