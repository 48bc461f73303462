import { useState } from "react";
import { useWhyNot } from "../../api/actions.ts";
import { ApiError, change } from "../../api/client.ts";
import type { ConfigKey } from "../../api/types.ts";
import { cache } from "../../live/resource.ts";
import { useCommands } from "../../state/commands.ts";
import { toast } from "../../state/toasts.ts";
import { count } from "../../state/words.ts";
import { Button } from "../../ui/controls.tsx";
import { Empty } from "../../ui/states.tsx";
import { defaultOf, problemOf, rangeOf, typedOf } from "./config-value.ts";
import css from "./settings-page.module.css";

/** Null: the key is taken out of the file. */
type Draft = Readonly<Record<string, string | null>>;

/** What a person has typed and not saved, by file. It survives a look at another section. */
const drafts = new Map<string, Draft>();

/** The keys of a section with their values, and below them what would be written. */
export function ConfigForm({
  all,
  keys,
  seen,
  local,
}: {
  all: readonly ConfigKey[];
  keys: readonly ConfigKey[];
  seen: { readonly file: string; readonly text: string };
  local: boolean;
}) {
  const [draft, setShownDraft] = useState<Draft>(() => drafts.get(seen.file) ?? {});
  const [refused, setRefused] = useState<Readonly<Record<string, string>>>({});
  const [outside, setOutside] = useState<readonly Outside[]>();
  const [saves, setSaves] = useState(false);
  const offline = useWhyNot();
  const setDraft = (next: Draft): void => {
    drafts.set(seen.file, next);
    setShownDraft(next);
  };
  const type = (key: ConfigKey, value: string | null): void => {
    const { [key.key]: _, ...others } = draft;
    const { [key.key]: __, ...otherProblems } = refused;
    setRefused(otherProblems);
    setDraft(value === typedOf(key.value) ? others : { ...others, [key.key]: value });
  };
  const changes = all.flatMap((key) => {
    const value = draft[key.key];
    // A save whose answer was lost is seen in the file.
    return value === undefined || value === typedOf(key.value) ? [] : [{ key, value }];
  });
  const problemAt = (key: ConfigKey): string | undefined => {
    const value = draft[key.key];
    return refused[key.key] ?? (value === undefined || value === null ? undefined : problemOf(key, value));
  };
  const wrong = changes.filter(({ key }) => problemAt(key) !== undefined).length;
  const discard = (): void => {
    setDraft({});
    setRefused({});
    setOutside(undefined);
  };
  const readAgain = async () => {
    await Promise.all([
      cache.refetchQueries({ queryKey: ["/api/config"] }),
      cache.refetchQueries({ queryKey: ["/api/config/file"] }),
    ]);
    return (cache.getQueryData(["/api/config", {}]) as { items: readonly ConfigKey[] } | undefined)?.items ?? all;
  };
  const save = async (): Promise<void> => {
    setSaves(true);
    try {
      await change("PATCH", "/api/config", {
        changes: changes.map(({ key, value }) => ({ key: key.key, value })),
        local,
        seen: seen.text,
      });
      toast(`${count(changes.length, "setting")} saved in ${seen.file}.`);
      discard();
      await readAgain();
    } catch (error) {
      const told = error instanceof ApiError ? error : undefined;
      const field = String(told?.details.field ?? "");
      if (told?.details.kind === "changed-outside") setOutside(outsideOf(changes, await readAgain()));
      else if (field in draft) setRefused({ [field]: told?.message ?? String(error) });
      else if (told?.code === "offline") {
        const words = `The connection broke before it was said whether ${seen.file} was saved. Look at what is left to save.`;
        toast(words, { failed: true });
        await readAgain();
      } else toast(`Could not save ${seen.file}: ${told?.message ?? String(error)}.`, { failed: true });
    } finally {
      setSaves(false);
    }
  };
  const whyNot =
    offline ??
    (changes.length === 0 ? "Nothing is changed" : wrong > 0 ? `${count(wrong, "value")} cannot be used` : undefined) ??
    (saves ? "It is being saved" : undefined);
  useCommands("Settings", [
    {
      id: "settings.save",
      label: "Save settings",
      keys: "Mod+S",
      // A key that does nothing would look as if it had saved.
      run: () => (whyNot === undefined ? void save() : toast(`Nothing was saved: ${whyNot}.`, { failed: true })),
    },
  ]);
  return (
    <>
      <div className={css.keys}>
        {keys.length === 0 ? <Empty why="No key fits." command="ov config list" /> : null}
        {keys.map((key) => (
          <Field
            key={key.key}
            of={key}
            draft={draft[key.key]}
            problem={problemAt(key)}
            onType={(value) => type(key, value)}
          />
        ))}
        <details className={css.file}>
          <summary>{seen.file} as it is written</summary>
          <pre>{seen.text === "" ? "The file is not there; every key has its default." : seen.text}</pre>
        </details>
      </div>
      {outside === undefined ? null : (
        <ChangedOutside file={seen.file} keys={outside} onMine={() => setOutside(undefined)} onTheirs={discard} />
      )}
      {changes.length === 0 ? null : (
        <section className={css.changes} aria-label="Changes">
          <ul>
            {changes.map(({ key, value }) => (
              <li key={key.key}>
                <del>
                  - {key.key}: {typedOf(key.value)}
                </del>
                <ins>{value === null ? `+ ${key.key}: default (${defaultOf(key)})` : `+ ${key.key}: ${value}`}</ins>
              </li>
            ))}
          </ul>
          <div className={css.buttons}>
            <Button onClick={discard}>Discard</Button>
            <Button look="primary" keys="Mod+S" whyNot={whyNot} onClick={() => void save()}>
              {wrong > 0 ? `Save: ${count(wrong, "problem")}` : `Save ${count(changes.length, "change")}`}
            </Button>
          </div>
        </section>
      )}
    </>
  );
}

/** One key: its value, what it takes, its default, and the file or variable that decides it. */
function Field({
  of,
  draft,
  problem,
  onType,
}: {
  of: ConfigKey;
  draft: string | null | undefined;
  problem: string | undefined;
  onType: (value: string | null) => void;
}) {
  const shown = draft === undefined ? typedOf(of.value) : (draft ?? typedOf(of.default));
  const isOverruled = of.origin.startsWith("OVERSTORY_");
  const described = `${of.key}-words`;
  const common = { id: of.key, "aria-describedby": described, "aria-invalid": problem !== undefined || undefined };
  const options = of.type === "boolean" ? ["true", "false"] : of.type === "choice" ? (of.choices ?? []) : undefined;
  return (
    <div className={css.key} data-changed={draft !== undefined || undefined}>
      <label htmlFor={of.key}>
        <code>{of.key}</code>
      </label>
      <div className={css.value}>
        {options === undefined ? (
          <input
            {...common}
            value={shown}
            inputMode={of.type === "integer" ? "numeric" : undefined}
            onChange={(event) => onType(event.target.value)}
          />
        ) : (
          <select {...common} value={shown} onChange={(event) => onType(event.target.value)}>
            {options.includes(shown) ? null : <option value={shown}>{shown}</option>}
            {options.map((option) => (
              <option key={option}>{option}</option>
            ))}
          </select>
        )}
        {of.origin === "default" || draft === null ? null : (
          <Button look="quiet" aria-label={`Use default of ${of.key}`} onClick={() => onType(null)}>
            Use default
          </Button>
        )}
      </div>
      <p id={described} className={css.words}>
        {problem === undefined ? null : (
          <span className={css.problem} role="alert">
            {of.key} {problem.replace(`${of.key} `, "")}
          </span>
        )}
        <span>{of.doc}</span>
        <span className="faint">
          {rangeOf(of)}. Default: {defaultOf(of)}.{" "}
          {isOverruled ? `The variable ${of.origin} decides it.` : `From: ${of.origin}.`}
        </span>
      </p>
    </div>
  );
}

interface Outside {
  readonly key: string;
  readonly mine: string;
  readonly theirs: string;
}

const outsideOf = (
  changes: readonly { readonly key: ConfigKey; readonly value: string | null }[],
  now: readonly ConfigKey[],
): readonly Outside[] =>
  changes.map(({ key, value }) => ({
    key: key.key,
    mine: value ?? "default",
    theirs: typedOf(now.find((each) => each.key === key.key)?.value),
  }));

/** The file was edited by another program: nothing was written, and both versions are shown. */
const ChangedOutside = ({
  file,
  keys,
  onMine,
  onTheirs,
}: {
  file: string;
  keys: readonly Outside[];
  onMine: () => void;
  onTheirs: () => void;
}) => (
  <section className={css.outside} role="alert" data-tone="attn">
    <p>{file} changed outside. Nothing was written; this is what both say:</p>
    <ul>
      {keys.map(({ key, mine, theirs }) => (
        <li key={key}>
          <code>{key}</code>: yours <strong>{mine}</strong>, the file now{" "}
          <strong>{theirs === "" ? "not set" : theirs}</strong>
        </li>
      ))}
    </ul>
    <div className={css.buttons}>
      <Button onClick={onTheirs}>Take the file</Button>
      <Button onClick={onMine}>Keep mine, then save</Button>
    </div>
  </section>
);
