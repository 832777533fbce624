// The context to try a flag with: one of several remembered ones, as rows or as JSON.
import { isObject } from "@halyard/core/targeting/mistakes";
import {
  ActionIcon,
  Button,
  Group,
  JsonInput,
  NativeSelect,
  SegmentedControl,
  TextInput,
} from "@mantine/core";
import { useState } from "react";
import { Icon } from "../../components/display/icon.tsx";
import { useAskedNames, useSuggestedNames } from "../suggested-names.ts";
import { AttributeRows } from "./attribute-rows.tsx";
import type { useContexts } from "./contexts.ts";

const parsed = (text: string): Readonly<Record<string, unknown>> | undefined => {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
};

export const ContextEditor = ({
  contexts,
  flagKey,
}: {
  readonly contexts: ReturnType<typeof useContexts>;
  readonly flagKey: string;
}) => {
  const { names: all, current, context, choose, change, rename, add, forget } = contexts;
  const names = useSuggestedNames();
  const asked = useAskedNames(flagKey);
  const [form, setForm] = useState<"rows" | "json">("rows");
  /** The text while it is not an object. */
  const [typed, setTyped] = useState<string | undefined>();
  const [name, setName] = useState<string | undefined>();
  const { targetingKey, ...attributes } = context;
  const saveName = () => {
    const wanted = name?.trim() ?? "";
    if (wanted !== "" && !all.includes(wanted)) rename(wanted);
    setName(undefined);
  };
  return (
    <div className="try-context">
      <Group gap="xs" align="flex-end">
        {name === undefined ? (
          <NativeSelect
            label="Context"
            description="Remembered in this browser"
            data={[...all]}
            value={current}
            onChange={(event) => choose(event.currentTarget.value)}
          />
        ) : (
          <TextInput
            label="Name of the context"
            description="Enter to keep it"
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            onBlur={saveName}
            onKeyDown={(event) => {
              if (event.key === "Escape") setName(undefined);
              if (event.key !== "Enter") return;
              event.preventDefault();
              saveName();
            }}
            // It took the place of the button that was pressed.
            autoFocus
          />
        )}
        <ActionIcon
          variant="default"
          size="input-sm"
          aria-label="Rename the context"
          onClick={() => setName(current)}
        >
          <Icon name="edit" size={16} />
        </ActionIcon>
        <Button variant="default" onClick={add}>
          New context
        </Button>
        {all.length > 1 && (
          <ActionIcon
            variant="default"
            size="input-sm"
            aria-label={`Forget the context ${current}`}
            onClick={forget}
          >
            <Icon name="trash" size={16} />
          </ActionIcon>
        )}
        <SegmentedControl
          aria-label="How to edit it"
          data={[
            { value: "rows", label: "Rows" },
            { value: "json", label: "JSON" },
          ]}
          value={form}
          onChange={(next) => setForm(next === "json" ? "json" : "rows")}
        />
      </Group>
      {form === "rows" ? (
        <>
          <TextInput
            label="targetingKey"
            description="Who it is for, such as a user ID"
            value={targetingKey ?? ""}
            onChange={(event) => {
              const key = event.currentTarget.value;
              change({ ...(key !== "" && { targetingKey: key }), ...attributes });
            }}
            autoComplete="off"
            spellCheck={false}
            classNames={{ input: "mono" }}
          />
          <AttributeRows
            key={current}
            context={context}
            names={names}
            asked={asked}
            onChange={change}
          />
        </>
      ) : (
        <JsonInput
          key={`json ${current}`}
          label="Context as JSON"
          value={typed ?? JSON.stringify(context, null, 2)}
          onChange={(text) => {
            const value = parsed(text);
            setTyped(text);
            if (value) change(value);
          }}
          onBlur={() => setTyped(undefined)}
          error={
            typed !== undefined && parsed(typed) === undefined
              ? "This is not a JSON object."
              : undefined
          }
          autosize
          minRows={3}
          maxRows={20}
          classNames={{ input: "mono" }}
          spellCheck={false}
        />
      )}
    </div>
  );
};
