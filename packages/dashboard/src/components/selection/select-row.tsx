// The checkbox of a row. A plain one: a list renders many of them.

interface SelectRowProps {
  readonly label: string;
  readonly checked: boolean;
  readonly onToggle: (isRange: boolean) => void;
}

export const SelectRow = ({ label, checked, onToggle }: SelectRowProps) => (
  <label className="select-row">
    <span className="visually-hidden">{label}</span>
    <input
      type="checkbox"
      checked={checked}
      onChange={({ nativeEvent }) =>
        // A click with Shift is a mouse event; the space bar is none with Shift.
        onToggle(nativeEvent instanceof MouseEvent && nativeEvent.shiftKey)
      }
    />
  </label>
);
