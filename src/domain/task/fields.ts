import { type InvalidInput, invalid } from "../refusal.ts";
import { no, ok, type Result } from "../result.ts";
import { checkSize, sizes } from "../text/sizes.ts";
import { type Task, taskTypes } from "./task.ts";

/** What a person or agent may write about a task, as typed. Absent: as it was, or the default. */
export interface TaskFields {
  readonly title?: string | undefined;
  readonly type?: string | undefined;
  readonly priority?: number | undefined;
  readonly description?: string | null | undefined;
  readonly assignee?: string | null | undefined;
  readonly labels?: readonly string[] | undefined;
  readonly files?: readonly string[] | undefined;
  readonly shares?: readonly string[] | undefined;
  readonly parentId?: string | null | undefined;
}

export const highestPriority = 0;
export const lowestPriority = 4;
const maxTitle = 500;

type Settled = Partial<
  Pick<Task, "title" | "type" | "priority" | "description" | "assignee" | "labels" | "files" | "shares" | "parentId">
>;

/** The given fields alone, tidied: texts trimmed, blank ones empty, lists without repetitions. */
export function checkFields(given: TaskFields): Result<Settled, InvalidInput> {
  const title = given.title?.trim();
  if (title === "") return no(invalid("title", "must not be empty"));
  if (title !== undefined && title.length > maxTitle) {
    return no(invalid("title", `must have at most ${maxTitle} characters; the rest belongs in the description`));
  }
  const described = checkSize("description", given.description, sizes.text);
  if (!described.ok) return described;
  const type = taskTypes.find((known) => known === given.type);
  if (given.type !== undefined && type === undefined) {
    return no(invalid("type", "is not a type of task", { value: given.type, allowed: taskTypes }));
  }
  if (given.priority !== undefined && !isPriority(given.priority)) {
    const problem = `must be a whole number from ${highestPriority} (most urgent) to ${lowestPriority}`;
    return no(invalid("priority", problem, { value: String(given.priority) }));
  }
  const inside = checkPaths([...(given.files ?? []), ...(given.shares ?? [])]);
  if (!inside.ok) return inside;
  return ok({
    ...(title === undefined ? {} : { title }),
    ...(type === undefined ? {} : { type }),
    ...(given.priority === undefined ? {} : { priority: given.priority }),
    ...(given.description === undefined ? {} : { description: text(given.description) }),
    ...(given.assignee === undefined ? {} : { assignee: text(given.assignee) }),
    ...(given.labels === undefined ? {} : { labels: distinct(given.labels) }),
    ...(given.files === undefined ? {} : { files: distinct(given.files) }),
    ...(given.shares === undefined ? {} : { shares: distinct(given.shares) }),
    ...(given.parentId === undefined ? {} : { parentId: text(given.parentId) }),
  });
}

/** Each pattern of a task is compared with each one of every other agent. */
const mostPatterns = 200;

/** Agents work in worktrees of their own, in which a path outside of the project means nothing. */
export function checkPaths(files: readonly string[]): Result<null, InvalidInput> {
  if (files.length > mostPatterns) {
    const problem = `are ${files.length} paths and patterns; ${mostPatterns} are allowed: name directories (src/**) instead of their files`;
    return no(invalid("files", problem));
  }
  for (const path of files) {
    const short = checkSize("files", path, sizes.pattern);
    if (!short.ok) return short;
  }
  const outside = files.find((path) => /^[/\\~]/.test(path.trim()) || path.trim().split(/[/\\]/).includes(".."));
  if (outside === undefined) return ok(null);
  return no(
    invalid("files", "must be paths inside the project, without a leading / and without ..", { value: outside }),
  );
}

export const isPriority = (value: number): boolean =>
  Number.isInteger(value) && value >= highestPriority && value <= lowestPriority;

const text = (given: string | null): string | null => {
  const trimmed = given?.trim() ?? "";
  return trimmed === "" ? null : trimmed;
};

const distinct = (given: readonly string[]): readonly string[] => [
  ...new Set(given.map((item) => item.trim()).filter((item) => item !== "")),
];
