import { useEffect, useRef } from "react";
import { Button } from "../../ui/controls.tsx";
import { type Draft, type Severity, severities } from "./drafts.ts";
import css from "./review-page.module.css";

/** A comment below its line: a field while it is written, its text afterwards. */
export function DraftNote({
  draft,
  onEdit,
  onRemove,
}: {
  draft: Draft;
  onEdit: (patch: Partial<Draft>) => void;
  onRemove: () => void;
}) {
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    if (draft.isOpen) field.current?.focus();
  }, [draft.isOpen]);
  const where = `${draft.path} line ${draft.line}`;
  if (!draft.isOpen)
    return (
      <div className={css.note}>
        <p dir="auto">
          <b>{draft.severity}</b> {draft.text}
        </p>
        <span className={css.noteActions}>
          <span className="faint">draft</span>
          <Button look="quiet" onClick={() => onEdit({ isOpen: true })}>
            Edit
          </Button>
          <Button look="quiet" onClick={onRemove}>
            Delete
          </Button>
        </span>
      </div>
    );
  const add = (): void => (draft.text.trim() === "" ? onRemove() : onEdit({ isOpen: false }));
  return (
    <div className={css.note}>
      <textarea
        ref={field}
        rows={3}
        aria-label={`Comment on ${where}`}
        placeholder="What is wrong here, and what would be right?"
        value={draft.text}
        onChange={(event) => onEdit({ text: event.target.value })}
        onKeyDown={(event) => {
          const isAdd = event.key === "Enter" && event.shiftKey;
          if (!isAdd && event.key !== "Escape") return;
          event.preventDefault();
          add();
          document.querySelector<HTMLElement>("section[aria-label=Changes]")?.focus();
        }}
      />
      <span className={css.noteActions}>
        <label>
          <span className="visually-hidden">Severity</span>
          <select value={draft.severity} onChange={(event) => onEdit({ severity: event.target.value as Severity })}>
            {severities.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
        <Button keys="Shift+Enter" onClick={add}>
          Add comment
        </Button>
        <Button look="quiet" onClick={onRemove}>
          Discard
        </Button>
      </span>
    </div>
  );
}
