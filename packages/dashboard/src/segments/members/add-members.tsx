// Adds targeting keys to a list: typed, pasted or from a file, one per line or with commas between them.
import type { MemberList } from "@halyard/core/targeting/segment";
import { Button, FileButton, Textarea } from "@mantine/core";
import { type ClipboardEvent, useDeferredValue, useMemo, useRef, useState } from "react";
import { formatNumber } from "../../format.ts";
import { readPasted } from "./read-pasted.ts";

interface AddMembersProps {
  readonly list: ReadonlySet<string>;
  readonly other: ReadonlySet<string>;
  readonly otherName: MemberList;
  readonly disabled: boolean;
  readonly addLabel: string;
  /** Whether all was saved. */
  readonly onAdd: (members: readonly string[]) => Promise<boolean>;
}

/** Browsers take minutes to lay out a longer text in an input: it is held beside it. */
const longestShown = 5_000;

export const AddMembers = (props: AddMembersProps) => {
  const { list, other, otherName, disabled, addLabel, onAdd } = props;
  const input = useRef<HTMLTextAreaElement>(null);
  const [text, setText] = useState("");
  const [held, setHeld] = useState("");
  const deferred = useDeferredValue(`${text}\n${held}`);
  const { fresh, known, tooLong } = useMemo(() => readPasted(deferred, list), [deferred, list]);
  const inBoth = useMemo(() => fresh.filter((key) => other.has(key)).length, [fresh, other]);
  const notes = [
    ...(fresh.length === 0 ? [] : [`${formatNumber(fresh.length)} to add`]),
    ...(known.length === 0 ? [] : [`${formatNumber(known.length)} already in the list`]),
    ...(inBoth === 0 ? [] : [`${formatNumber(inBoth)} also in the ${otherName} list`]),
    ...(tooLong.length === 0
      ? []
      : [`${formatNumber(tooLong.length)} longer than 256 bytes, left out`]),
  ];
  const add = async () => {
    const isDone = await onAdd(fresh);
    if (isDone) {
      setText("");
      setHeld("");
    }
    // The button is gone or disabled.
    input.current?.focus();
  };
  const take = (more: string) =>
    more.length > longestShown
      ? setHeld((before) => `${before}\n${more}`)
      : setText((before) => (before === "" ? more : `${before}\n${more}`));
  const onPaste = (event: ClipboardEvent) => {
    const pasted = event.clipboardData.getData("text");
    if (pasted.length <= longestShown) return;
    event.preventDefault();
    take(pasted);
  };
  return (
    <form
      className="members-add"
      onSubmit={(event) => {
        event.preventDefault();
        if (fresh.length > 0) void add();
      }}
    >
      <Textarea
        ref={input}
        label="Add targeting keys, one per line or with commas"
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        onPaste={onPaste}
        placeholder={"user-7\nuser-8"}
        rows={3}
        spellCheck={false}
        autoComplete="off"
        readOnly={disabled}
        classNames={{ input: "mono members-input" }}
      />
      <div className="members-add-foot">
        <span role="status" className="dimmed">
          {notes.join(", ")}
        </span>
        <span className="members-add-buttons">
          {held === "" ? (
            <FileButton
              accept="text/plain,text/csv,.txt,.csv"
              onChange={(file) => void file?.text().then(take)}
            >
              {(props) => (
                <Button {...props} variant="default" disabled={disabled}>
                  From a file
                </Button>
              )}
            </FileButton>
          ) : (
            <Button variant="default" disabled={disabled} onClick={() => setHeld("")}>
              Forget what was pasted
            </Button>
          )}
          <Button type="submit" disabled={disabled || fresh.length === 0} loading={disabled}>
            {addLabel}
          </Button>
        </span>
      </div>
    </form>
  );
};
