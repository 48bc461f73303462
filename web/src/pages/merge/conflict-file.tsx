import type { ReactNode } from "react";
import { Button } from "../../ui/controls.tsx";
import { Glyph } from "../../ui/glyph.tsx";
import { withHidden } from "../../ui/safe-text.ts";
import { Middle } from "../../ui/text.tsx";
import css from "./entry-conflicts.module.css";
import type { ConflictFile, Hunk, Said } from "./settled-file.ts";
import type { Settlement } from "./settlement.ts";

interface FileProps {
  readonly file: ConflictFile;
  readonly name: string;
  /** The chosen hunk of this file, from 1; 0 where another file is chosen. */
  readonly current: number;
  readonly showsBase: boolean;
  readonly target: string;
  readonly branch: string;
  readonly settlement: Settlement;
  /** Chooses a hunk of this file. */
  readonly onGo: (hunk: number) => void;
}

/** A file with conflicts: each place with its sides, and between them what stays. */
export const FileSides = ({ file, name, current, settlement, onGo, ...sides }: FileProps) => (
  <section className={css.file}>
    <header>
      <Glyph name="conflict" tone="bad" word="conflict" />
      <h2 className="mono">{file.path}</h2>
      <span className={css.faint}>{file.kind.replaceAll("-", " ")}</span>
      <span className={css.reason}>{file.reason}</span>
    </header>
    {file.hunks.length === 0 ? <WholeFile file={file} settlement={settlement} /> : null}
    {file.hunks.map((hunk, at) => (
      <HunkSides
        // biome-ignore lint/suspicious/noArrayIndexKey: a place has no name but its number
        key={at}
        id={`${name}-${at + 1}`}
        title={`Place ${at + 1} of ${file.hunks.length}`}
        file={file}
        hunk={hunk}
        isCurrent={current === at + 1}
        settlement={settlement}
        onGo={() => onGo(at + 1)}
        {...sides}
      />
    ))}
  </section>
);

/** A file without lines to choose between, as one that was deleted or is no text: one side of it stays. */
function WholeFile({ file, settlement }: Pick<FileProps, "file" | "settlement">) {
  const said = settlement.said(file);
  return (
    <div className={css.whole}>
      <p>{file.notShown ?? file.message}</p>
      {file.canTake ? (
        (["target", "branch"] as const).map((side) => (
          <Button
            key={side}
            aria-pressed={said?.from === side}
            onClick={() => settlement.take(file, undefined, side)}
          >{`Take ${side}`}</Button>
        ))
      ) : (
        <p>It can only be settled on the branch.</p>
      )}
      {said === undefined ? null : <span className={css.faint}>{origins[said.from]}</span>}
    </div>
  );
}

interface HunkProps extends Omit<FileProps, "name" | "current" | "onGo"> {
  readonly onGo: () => void;
  readonly id: string;
  readonly title: string;
  readonly hunk: Hunk;
  readonly isCurrent: boolean;
}

function HunkSides({ id, title, file, hunk, isCurrent, showsBase, target, branch, settlement, onGo }: HunkProps) {
  const said = settlement.said(file, hunk);
  const take = (side: "target" | "branch") => (
    <Button
      look="quiet"
      keys={isCurrent ? { target: "t", branch: "y" }[side] : undefined}
      aria-pressed={said?.from === side}
      onClick={() => settlement.take(file, hunk, side)}
    >{`Take ${side}`}</Button>
  );
  return (
    <div
      id={id}
      className={css.hunk}
      data-current={isCurrent || undefined}
      onFocusCapture={isCurrent ? undefined : onGo}
    >
      <h3>{title}</h3>
      <div className={css.sides}>
        <Side name="Target" of={target} side={hunk.target} hunk={hunk}>
          {take("target")}
        </Side>
        {showsBase ? <Side name="Base" of="before both" side={hunk.base} hunk={hunk} /> : null}
        <Result
          label={`Result, ${title.toLowerCase()} of ${file.path}`}
          hunk={hunk}
          said={said}
          isCurrent={isCurrent}
          onWrite={(text) => settlement.write(file, hunk, text)}
          onBoth={() => settlement.take(file, hunk, "both")}
          onClear={() => settlement.clear(file, hunk)}
        />
        <Side name="Branch" of={branch} side={hunk.branch} hunk={hunk}>
          {take("branch")}
        </Side>
      </div>
    </div>
  );
}

const origins: Readonly<Record<Said["from"], string>> = {
  target: "from the target",
  branch: "from the branch",
  both: "from both, the target first",
  you: "written by you",
};

interface ResultProps {
  readonly label: string;
  readonly hunk: Hunk;
  readonly said: Said | undefined;
  readonly isCurrent: boolean;
  readonly onWrite: (text: string) => void;
  readonly onBoth: () => void;
  readonly onClear: () => void;
}

/** What stays at a place. It is open until a side was taken or something was written. */
const Result = ({ label, hunk, said, isCurrent, onWrite, onBoth, onClear }: ResultProps) => (
  <div className={css.side} data-result>
    <div className={css.caption}>
      <b>Result</b>{" "}
      <span className={css.of} data-tone={said === undefined ? "attn" : undefined}>
        {said === undefined ? "open" : origins[said.from]}
      </span>
      <Button look="quiet" keys={isCurrent ? "w" : undefined} aria-pressed={said?.from === "both"} onClick={onBoth}>
        Take both
      </Button>
      {said === undefined ? null : (
        <Button look="quiet" onClick={onClear}>
          Clear
        </Button>
      )}
    </div>
    <pre className={css.context}>{hunk.before.map(withHidden).join("\n")}</pre>
    <textarea
      className={css.written}
      aria-label={label}
      spellCheck={false}
      wrap="off"
      rows={Math.max(1, said?.text.split("\n").length ?? 1)}
      value={said?.text ?? ""}
      placeholder={said === undefined ? "Take a side, or write what stays" : "No lines stay"}
      onChange={(event) => onWrite(event.target.value)}
    />
    <pre className={css.context}>{hunk.after.map(withHidden).join("\n")}</pre>
  </div>
);

function Side({
  name,
  of,
  side,
  hunk,
  children,
}: {
  name: string;
  of: string;
  side: Hunk["target"];
  hunk: Hunk;
  children?: ReactNode;
}) {
  const lines = [
    ...hunk.before.map((text, at) => ({ number: side.line - hunk.before.length + at, text, isOwn: false })),
    ...side.lines.map((text, at) => ({ number: side.line + at, text, isOwn: true })),
    ...hunk.after.map((text, at) => ({ number: side.line + side.lines.length + at, text, isOwn: false })),
  ];
  return (
    <figure className={css.side}>
      <figcaption>
        <b>{name}</b>{" "}
        <span className={css.of}>
          <Middle text={of} tail={18} />
        </span>
        {children}
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: code that scrolls must be reachable by keyboard */}
      <pre tabIndex={0}>
        {lines.map(({ number, text, isOwn }) => (
          <span key={`${number}${isOwn}`} className={css.line} data-own={isOwn || undefined}>
            <span className={css.number}>{number}</span>
            {withHidden(text)}
            {"\n"}
          </span>
        ))}
        {side.lines.length === 0 ? <span className={css.gone}>has no lines here</span> : null}
      </pre>
    </figure>
  );
}
