import { useRuns } from "../api/resources.ts";
import type { Run } from "../api/types.ts";
import { useUrl } from "../state/url.ts";
import { count } from "../state/words.ts";
import { Overlay } from "../ui/overlays.tsx";
import { Empty, Shown } from "../ui/states.tsx";
import { Age, Facts } from "../ui/text.tsx";
import { closePanel } from "./panels.ts";
import css from "./run-switcher.module.css";

/** All runs, active ones first. Choosing one puts it into the address. */
export function RunSwitcher({ open }: { open: boolean }) {
  return (
    <Overlay title="Switch run" shape="dialog" open={open} onClose={closePanel}>
      {open ? <RunList /> : null}
    </Overlay>
  );
}

function RunList() {
  const query = useRuns();
  const { search, set } = useUrl();
  const isActive = ({ status }: Run): number => (status === "active" ? 0 : 1);
  return (
    <Shown what="the runs" query={query}>
      {({ items }) =>
        items.length === 0 ? (
          <Empty
            why="No run yet. A run begins when the coordinator gets an objective."
            command='ov go "your objective"'
          />
        ) : (
          <ul className={css.runs}>
            {items
              .toSorted((a, b) => isActive(a) - isActive(b))
              .map((run, at) => (
                <li key={run.id}>
                  <button
                    type="button"
                    aria-current={search.run === run.id || (search.run === undefined && at === 0)}
                    onClick={() => {
                      closePanel();
                      set({ run: at === 0 ? undefined : run.id });
                    }}
                  >
                    <span className={css.objective}>{run.objective ?? run.id}</span>
                    <Facts
                      facts={[
                        <span key="id" className="mono">
                          {run.id}
                        </span>,
                        run.status,
                        count(run.agentCount, "agent"),
                        <Age key="age" at={run.startedAt} form="span" />,
                      ]}
                    />
                  </button>
                </li>
              ))}
          </ul>
        )
      }
    </Shown>
  );
}
