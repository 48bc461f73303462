import { Link, useParams } from "@tanstack/react-router";
import { useEffect, useMemo } from "react";
import { useResource } from "../../live/resource.ts";
import { useCommands } from "../../state/commands.ts";
import { useGo, useUrl } from "../../state/url.ts";
import { Filter, Picker } from "../../ui/controls.tsx";
import { PageHead } from "../../ui/page.tsx";
import { Shown } from "../../ui/states.tsx";
import { Appearance } from "./appearance.tsx";
import { ConfigForm } from "./config-form.tsx";
import { NotifyTest } from "./notify-test.tsx";
import css from "./settings-page.module.css";
import { Tokens } from "./tokens.tsx";

const own = { appearance: "Appearance", tokens: "Tokens" } as const;

/** Appearance of this browser, tokens, and every key of the configuration by section. */
export default function SettingsPage() {
  const { section: named } = useParams({ strict: false }) as { section?: string };
  const { search, replace } = useUrl();
  const go = useGo();
  const local = search.file === "local";
  const query = useResource({ path: "/api/config", isFresh: true });
  const file = useResource({ path: "/api/config/file", given: { local: String(local) }, isFresh: true });
  // Files are edited by other programs too: what an earlier visit read may be old.
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each opening of the page
  useEffect(() => {
    if (query.dataUpdatedAt > 0) void Promise.all([query.refetch(), file.refetch()]);
  }, []);
  const sections = useMemo(
    () => [...new Set((query.data?.items ?? []).map(({ key }) => key.split(".")[0] ?? ""))].toSorted(),
    [query.data],
  );
  const section = named ?? "appearance";
  const found = search.q ?? "";
  useCommands("Settings", [
    {
      id: "settings.find",
      label: "Find a setting",
      keys: "/",
      run: () => document.querySelector<HTMLElement>("#settings-filter")?.focus(),
    },
  ]);
  const isOwn = section in own && found === "";
  const shown = (query.data?.items ?? []).filter(({ key, doc }) =>
    found === "" ? key.split(".")[0] === section : `${key} ${doc}`.toLowerCase().includes(found.toLowerCase()),
  );
  return (
    <>
      <PageHead title="Settings">
        <Filter
          id="settings-filter"
          label="Find a key"
          value={found}
          onChange={(q) => replace({ q: q === "" ? undefined : q })}
        />
        {isOwn ? null : (
          <Picker
            label="File to write"
            value={local ? "local" : "project"}
            options={[
              { value: "project", label: "for the project: config.yaml" },
              { value: "local", label: "for this machine: config.local.yaml" },
            ]}
            onChoose={(value) => replace({ file: value === "local" ? "local" : undefined })}
          />
        )}
      </PageHead>
      <div className={css.page}>
        <nav className={css.sections} aria-label="Sections">
          {[...Object.entries(own), ...sections.map((name) => [name, titleOf(name)] as const)].map(([name, title]) => (
            <Link
              key={name}
              to="/settings/$section"
              params={{ section: name } as never}
              search={{ file: search.file } as never}
              aria-current={name === section && found === "" ? "page" : undefined}
            >
              {title}
            </Link>
          ))}
        </nav>
        <div className={css.narrowSections}>
          <Picker
            label="Section"
            value={section}
            options={[...Object.entries(own), ...sections.map((name) => [name, titleOf(name)] as const)].map(
              ([value, label]) => ({ value, label }),
            )}
            onChoose={(value) => go(`/settings/${value}`, { file: search.file })}
          />
        </div>
        <div className={css.section}>
          {isOwn ? (
            section === "tokens" ? (
              <Tokens />
            ) : (
              <Appearance />
            )
          ) : (
            <>
              {section === "notify" && found === "" ? <NotifyTest /> : null}
              <Shown what="the settings" query={query}>
                {({ items }) => (
                  <Shown what="the file of settings" query={file}>
                    {(seen) => <ConfigForm key={seen.file} all={items} keys={shown} seen={seen} local={local} />}
                  </Shown>
                )}
              </Shown>
            </>
          )}
        </div>
      </div>
    </>
  );
}

/** `taskTracker` is read as "Task tracker". */
const titleOf = (name: string): string => {
  const words = name.replaceAll(/([A-Z])/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
};
