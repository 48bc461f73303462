import { useResource } from "../../live/resource.ts";
import { count } from "../../state/words.ts";
import { Overlay } from "../../ui/overlays.tsx";
import { Empty, Shown } from "../../ui/states.tsx";
import { Age, Facts } from "../../ui/text.tsx";
import css from "./agent-page.module.css";

/** What was kept of the files of an agent, newest first, with the command that brings each back. */
export function Snapshots({ name, onClose }: { name: string; onClose: () => void }) {
  const query = useResource({ path: "/api/agents/:agent/snapshots", given: { agent: name }, isFresh: true });
  return (
    <Overlay title={`Snapshots of ${name}`} shape="panel" open onClose={onClose}>
      <Shown what="the snapshots" query={query}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty
              why={`Nothing of ${name} had to be kept: it left no uncommitted files.`}
              command="ov snapshots list"
            />
          ) : (
            <ul className={css.snapshots}>
              {items
                .toSorted((a, b) => (a.createdAt < b.createdAt ? 1 : -1))
                .map((snapshot) => (
                  <li key={snapshot.ref}>
                    <Facts
                      facts={[
                        <span key="age">
                          <Age at={snapshot.createdAt} form="span" /> ago
                        </span>,
                        snapshot.reason,
                        snapshot.skipped.length === 0 ? null : `${count(snapshot.skipped.length, "file")} left out`,
                      ]}
                    />
                    <code>ov snapshots restore {snapshot.name}</code>
                  </li>
                ))}
            </ul>
          )
        }
      </Shown>
    </Overlay>
  );
}
