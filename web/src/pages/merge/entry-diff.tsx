import { Link } from "@tanstack/react-router";
import type { MergeDetail } from "../../api/types.ts";
import { DiffView } from "../../diff/diff-view.tsx";
import { useDiff } from "../../diff/use-diff.ts";
import { useUrl } from "../../state/url.ts";
import { shortCommit } from "../../state/words.ts";
import { Empty, Failed, Loading } from "../../ui/states.tsx";
import { Middle } from "../../ui/text.tsx";
import css from "./entry-page.module.css";

/** What an entry brings, or brought when it has landed. */
export default function EntryDiff({ detail: { entry } }: { detail: MergeDetail }) {
  const { search } = useUrl();
  const { query, files, contextOf, openFile } = useDiff("/api/merge/:of/diff", {
    of: String(entry.id),
    ...(search.ws === "hide" ? { ignoreSpace: "true" } : {}),
  });
  const { data, error, refetch } = query;
  const { difference, message } = entry.causeDetail ?? {};
  return (
    <section className={css.diff} aria-label="Diff">
      {difference === undefined || difference === "" ? null : (
        <details>
          <summary>The part of it that needs a look{message === undefined ? "" : `: ${message}`}</summary>
          <pre className={css.difference}>{difference}</pre>
        </details>
      )}
      {error === null ? null : (
        <Failed what={`the changes of ${entry.branch}`} error={error} onRetry={() => void refetch()} />
      )}
      {data === undefined ? (
        error === null ? (
          <Loading what={`the changes of ${entry.branch}`} />
        ) : (
          <KnownFiles files={entry.filesModified} />
        )
      ) : files.length === 0 ? (
        <Empty why={`${entry.branch} brings nothing that its target does not have.`} />
      ) : (
        <DiffView
          files={files}
          scope={entry.agentName ?? entry.branch}
          contextOf={contextOf}
          openFile={openFile}
          more={
            <>
              <span className="faint">
                {data.base.endsWith("^1")
                  ? `landed as ${shortCommit(data.head)}`
                  : `${shortCommit(data.base)} to ${shortCommit(data.head)}`}
              </span>
              {entry.agentName === null ? null : (
                <Link to={`/review/${entry.agentName}` as never}>Review {entry.agentName}</Link>
              )}
            </>
          }
        />
      )}
    </section>
  );
}

/** The names that are on record, where the commits themselves cannot be read. */
const KnownFiles = ({ files }: { files: readonly string[] }) => (
  <ul className={css.files} aria-label="Changed files">
    {files.map((file) => (
      <li key={file} className="mono">
        <Middle text={file} tail={24} />
      </li>
    ))}
  </ul>
);
