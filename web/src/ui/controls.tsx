import { Tooltip } from "radix-ui";
import { type ButtonHTMLAttributes, type ReactNode, useState } from "react";
import { keyWords } from "../state/commands.ts";
import css from "./controls.module.css";

export interface ButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, "disabled"> {
  readonly look?: "plain" | "primary" | "danger" | "quiet";
  /** Why it cannot be pressed now. It stays in the order of focus, so that the reason can be read. */
  readonly whyNot?: string | undefined;
  readonly keys?: string | undefined;
}

export function Button({ look = "plain", whyNot, keys, onClick, children, ...rest }: ButtonProps) {
  const button = (
    <button
      type="button"
      {...rest}
      className={`${css.button} ${rest.className ?? ""}`}
      data-look={look}
      aria-disabled={whyNot !== undefined || undefined}
      onClick={whyNot === undefined ? onClick : undefined}
    >
      {children}
    </button>
  );
  if (whyNot === undefined && keys === undefined) return button;
  return (
    <Tip text={whyNot ?? undefined} keys={keys}>
      {button}
    </Tip>
  );
}

/** Puts a text into the clipboard, and says so in its own place. */
export function CopyButton({ text, what }: { text: string; what: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 2000);
  };
  return (
    <Button look="quiet" aria-label={`Copy ${what}: ${text}`} onClick={() => void copy()}>
      {isCopied ? "Copied" : "Copy"}
    </Button>
  );
}

/** A word about a control, on hover and on focus. */
export const Tip = ({
  text,
  keys,
  children,
}: {
  text?: string | undefined;
  keys?: string | undefined;
  children: ReactNode;
}) => (
  <Tooltip.Root>
    <Tooltip.Trigger asChild>{children}</Tooltip.Trigger>
    <Tooltip.Portal>
      <Tooltip.Content className={css.tip} sideOffset={4} collisionPadding={8}>
        {text}
        {keys === undefined ? null : <Keys keys={keys} />}
      </Tooltip.Content>
    </Tooltip.Portal>
  </Tooltip.Root>
);

export const Keys = ({ keys }: { keys: string }) => <kbd className={css.keys}>{keyWords(keys)}</kbd>;

/** One of few views, kept in the address: `value` is what is chosen. */
export function Choice<Value extends string>({
  label,
  options,
  value,
  onChoose,
}: {
  label: string;
  options: readonly { readonly value: Value; readonly label: string; readonly keys?: string }[];
  value: Value;
  onChoose: (value: Value) => void;
}) {
  return (
    <fieldset className={css.choice}>
      <legend className="visually-hidden">{label}</legend>
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          aria-pressed={option.value === value}
          title={option.keys === undefined ? undefined : `Key ${option.keys}`}
          onClick={() => onChoose(option.value)}
        >
          {option.label}
        </button>
      ))}
    </fieldset>
  );
}

/** A field that narrows the list of a page. Escape empties it, then leaves it. */
export const Filter = ({
  label,
  value,
  onChange,
  id,
}: {
  label: string;
  value: string;
  onChange: (value: string) => void;
  id?: string;
}) => (
  <input
    id={id}
    className={css.filter}
    type="search"
    aria-label={label}
    placeholder={label}
    value={value}
    onChange={(event) => onChange(event.target.value)}
    onKeyDown={(event) => {
      if (event.key !== "Escape") return;
      if (value === "") event.currentTarget.blur();
      else onChange("");
    }}
  />
);

/** One of several values, where there are too many for a row of buttons. */
export function Picker<Value extends string>({
  label,
  options,
  value,
  onChoose,
}: {
  label: string;
  options: readonly { readonly value: Value; readonly label: string }[];
  value: Value;
  onChoose: (value: Value) => void;
}) {
  return (
    <select
      className={css.picker}
      aria-label={label}
      value={value}
      onChange={(event) => onChoose(event.target.value as Value)}
    >
      {options.map((option) => (
        <option key={option.value} value={option.value}>
          {option.label}
        </option>
      ))}
    </select>
  );
}
