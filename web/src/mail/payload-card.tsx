import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Letter } from "../api/types.ts";
import { count, exactTime, shortCommit } from "../state/words.ts";
import { FactList } from "../ui/peek.tsx";
import { Middle } from "../ui/text.tsx";
import css from "./letter.module.css";

type Fields = Readonly<Record<string, unknown>>;

export function fieldsOf(payload: string | null): Fields {
  if (payload === null) return {};
  try {
    const value: unknown = JSON.parse(payload);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
  } catch {
    // Free text in a payload is allowed; it is shown raw.
    return {};
  }
}

/** Names of fields for people, in the order in which they are shown. Fields that are not here are in the raw form only. */
const labels: readonly (readonly [string, string])[] = [
  ["verdict", "Verdict"],
  ["option", "Decision"],
  ["note", "Note"],
  ["severity", "Severity"],
  ["agentName", "Agent"],
  ["taskId", "Task"],
  ["branch", "Branch"],
  ["commit", "Commit"],
  ["exitCode", "Gates"],
  ["tier", "Merged by"],
  ["reason", "Reason"],
  ["errorMessage", "Cause"],
  ["conflictFiles", "Conflicts"],
  ["filesModified", "Files"],
  ["fileScope", "Files"],
  ["specPath", "Spec"],
  ["capability", "As"],
  ["deadline", "Until"],
];

/** The data of a message as facts; whatever else is in it stays folded, as it was sent. */
export function PayloadCard({ letter }: { letter: Letter }) {
  const fields = fieldsOf(letter.payload);
  const facts = labels
    .filter(([name]) => name in fields && fields[name] !== letter.body)
    .map(([name, label]) => [label, shownValue(name, fields[name])] as const);
  const findings = Array.isArray(fields.findings) ? (fields.findings as readonly Fields[]) : [];
  if (letter.payload === null) return null;
  return (
    <div className={css.payload}>
      {facts.length === 0 ? null : <FactList facts={facts} />}
      {findings.length === 0 ? null : (
        <ol className={css.findings} aria-label="Findings">
          {findings.map((finding, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: findings have no name but their place
            <li key={at}>
              <code>
                {String(finding.file ?? "")}
                {typeof finding.line === "number" ? `:${finding.line}` : ""}
              </code>{" "}
              <b>{String(finding.severity ?? "")}</b> {String(finding.text ?? "")}
              {typeof finding.expected === "string" ? ` Expected: ${finding.expected}` : ""}
            </li>
          ))}
        </ol>
      )}
      <details>
        <summary>Data as sent</summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a wide block is scrolled by keyboard */}
        <pre tabIndex={0}>{pretty(letter.payload)}</pre>
      </details>
    </div>
  );
}

function shownValue(name: string, value: unknown): ReactNode {
  if (value === null || value === undefined) return null;
  if (name === "agentName") return <Link to={`/agents/${String(value)}` as never}>{String(value)}</Link>;
  if (name === "taskId")
    return (
      <Link to="/tasks" search={{ task: String(value) } as never}>
        {String(value)}
      </Link>
    );
  if (name === "branch") return <Middle text={String(value)} />;
  if (name === "commit") return <code title={String(value)}>{shortCommit(String(value))}</code>;
  if (name === "exitCode") return value === 0 ? "passed" : `failed with exit code ${String(value)}`;
  if (name === "deadline") return exactTime(String(value));
  if (Array.isArray(value)) return <Files files={value.map(String)} />;
  return String(value).replaceAll("_", " ");
}

const Files = ({ files }: { files: readonly string[] }) =>
  files.length === 0 ? (
    "none"
  ) : (
    <details>
      <summary>{count(files.length, "file")}</summary>
      <ul>
        {files.map((file) => (
          <li key={file}>
            <Middle text={file} tail={24} />
          </li>
        ))}
      </ul>
    </details>
  );

function pretty(payload: string): string {
  try {
    return JSON.stringify(JSON.parse(payload), null, 2);
  } catch {
    // Free text.
    return payload;
  }
}
