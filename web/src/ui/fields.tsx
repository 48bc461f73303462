import type { ReactNode } from "react";
import css from "./fields.module.css";

/** A form in a panel: fields under each other, buttons at its end. */
export const Form = ({
  onSubmit,
  buttons,
  children,
}: {
  onSubmit: () => void;
  buttons: ReactNode;
  children: ReactNode;
}) => (
  <form
    className={css.form}
    onSubmit={(event) => {
      event.preventDefault();
      onSubmit();
    }}
  >
    <div className={css.fields}>{children}</div>
    <div className={css.buttons}>{buttons}</div>
  </form>
);

/** A field that decides which form follows. */
export const AboveForm = ({ children }: { children: ReactNode }) => <div className={css.above}>{children}</div>;

interface FieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** One line of text. `options` are offered while it is typed. */
export const TextField = ({
  label,
  value,
  onChange,
  options,
  hint,
  autoFocus = false,
}: FieldProps & { options?: readonly string[]; hint?: string; autoFocus?: boolean }) => {
  const listId = options === undefined ? undefined : `list-${label.replaceAll(/\W+/g, "-")}`;
  return (
    <label className={css.field}>
      <span>{label}</span>
      <input
        value={value}
        placeholder={hint}
        list={listId}
        autoComplete="off"
        // biome-ignore lint/a11y/noAutofocus: the panel was opened to fill this in
        autoFocus={autoFocus}
        onChange={(event) => onChange(event.target.value)}
      />
      {options === undefined ? null : (
        <datalist id={listId}>
          {options.map((option) => (
            <option key={option} value={option} />
          ))}
        </datalist>
      )}
    </label>
  );
};

export const TextArea = ({ label, value, onChange, rows = 6 }: FieldProps & { rows?: number }) => (
  <label className={css.field}>
    <span>{label}</span>
    <textarea value={value} rows={rows} dir="auto" onChange={(event) => onChange(event.target.value)} />
  </label>
);

/** One of few words. */
export const Select = ({
  label,
  value,
  onChange,
  options,
  hideLabel = false,
}: FieldProps & {
  options: readonly { readonly value: string; readonly label: string }[];
  hideLabel?: boolean;
}) => (
  <label className={hideLabel ? css.bare : css.field}>
    <span className={hideLabel ? "visually-hidden" : undefined}>{label}</span>
    <select value={value} onChange={(event) => onChange(event.target.value)}>
      {options.map((option) => (
        <option key={option.value} value={option.value}>
          {option.label}
        </option>
      ))}
    </select>
  </label>
);

/** Words as options of a select: the value is its own label. */
export const asOptions = (words: readonly string[]) =>
  words.map((word) => ({ value: word, label: word.replaceAll("_", " ") }));
