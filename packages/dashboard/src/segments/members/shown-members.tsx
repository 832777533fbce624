// The keys of a list, virtualized: only those in view are rendered.
import { Button, CloseButton, TextInput } from "@mantine/core";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useDeferredValue, useMemo, useRef, useState } from "react";
import { Icon } from "../../components/display/icon.tsx";
import { formatNumber } from "../../format.ts";

interface ShownMembersProps {
  readonly label: string;
  readonly members: readonly string[];
  /** Undefined when nothing can be removed. */
  readonly onRemove: ((members: readonly string[]) => Promise<void>) | undefined;
}

const rowHeight = 44;

export const ShownMembers = ({ label, members, onRemove }: ShownMembersProps) => {
  const [text, setText] = useState("");
  const searched = useDeferredValue(text.trim().toLowerCase());
  const scroller = useRef<HTMLDivElement>(null);
  const shown = useMemo(
    () =>
      searched === "" ? members : members.filter((key) => key.toLowerCase().includes(searched)),
    [members, searched],
  );
  const remove = async (gone: readonly string[]) => {
    await onRemove?.(gone);
    // The button that was pressed is gone.
    scroller.current?.focus({ preventScroll: true });
  };
  const virtualizer = useVirtualizer({
    count: shown.length,
    estimateSize: () => rowHeight,
    getScrollElement: () => scroller.current,
    overscan: 10,
    getItemKey: (index) => shown[index] ?? index,
  });
  if (members.length === 0) return <p className="dimmed">Nobody is in this list.</p>;
  return (
    <div className="members">
      <div className="members-search">
        <TextInput
          type="search"
          aria-label="Search in the list"
          placeholder="Search in the list"
          leftSection={<Icon name="search" size={16} />}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        <span role="status" className="dimmed">
          {searched !== "" && `${formatNumber(shown.length)} of ${formatNumber(members.length)}`}
        </span>
        {onRemove !== undefined && shown.length > 1 && (
          <Button variant="default" size="compact-sm" onClick={() => void remove(shown)}>
            {searched === "" ? "Remove all" : "Remove those found"}
          </Button>
        )}
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <section className="members-scroller" ref={scroller} tabIndex={0} aria-label={label}>
        <ul className="members-list" style={{ height: virtualizer.getTotalSize() }}>
          {virtualizer.getVirtualItems().map(({ index, start, key: rowKey }) => {
            const member = shown[index] ?? "";
            return (
              <li
                key={rowKey}
                className="members-row"
                aria-posinset={index + 1}
                aria-setsize={shown.length}
                style={{ transform: `translateY(${start}px)`, height: rowHeight }}
              >
                <span className="mono members-key">{member}</span>
                {onRemove !== undefined && (
                  <CloseButton
                    aria-label={`Remove ${member}`}
                    onClick={() => void remove([member])}
                  />
                )}
              </li>
            );
          })}
        </ul>
      </section>
    </div>
  );
};
