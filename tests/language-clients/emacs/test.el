;;; test.el --- Emacs with the configuration of its page -*- lexical-binding: t -*-

(require 'ert)
(require 'cl-lib)
(require 'flymake)

(setq eglot-confirm-server-initiated-edits nil
      eglot-confirm-server-edits nil
      eglot-sync-connect 30)

;; A batch is never idle, and eglot sends changes when Emacs is.
(defun rawr-idle ()
  (accept-process-output nil 0.1)
  (mapc #'timer-event-handler (copy-sequence timer-idle-list)))

(defun rawr-wait (what happened)
  "Wait until HAPPENED returns non-nil and return its value. WHAT names it."
  (let (value)
    (with-timeout (30 (ert-fail (format "no %s within 30 seconds" what)))
      (while (not (setq value (funcall happened)))
        (rawr-idle)))
    value))

(defun rawr-file (name)
  (expand-file-name name (getenv "RAWR_HOME")))

(defun rawr-open (name)
  "Open the file NAME of rawr's home and wait until its server manages it."
  (find-file (rawr-file name))
  ;; `eglot-ensure' connects after the current command, which a batch has none of.
  (run-hooks 'post-command-hook)
  (rawr-wait "language server" #'eglot-managed-p))

(defun rawr-problems ()
  (flymake-start)
  (mapcar #'flymake-diagnostic-text (flymake-diagnostics)))

(defun rawr-wait-for-problem (text)
  (rawr-wait text (lambda () (cl-some (lambda (of) (string-match-p (regexp-quote text) of)) (rawr-problems)))))

(defun rawr-hover ()
  "What the buffer's server says about the text at point."
  (rawr-idle)
  (let* ((at (list :line (1- (line-number-at-pos)) :character (- (point) (line-beginning-position))))
         (document (list :uri (concat "file://" buffer-file-name)))
         (answer (jsonrpc-request (eglot-current-server) :textDocument/hover
                                  (list :textDocument document :position at))))
    (plist-get (plist-get answer :contents) :value)))

(defun rawr-complete (typed name)
  "Type TYPED in a new line, choose NAME among the completions and return the line."
  (goto-char (point-max))
  (insert typed)
  (rawr-idle)
  (pcase-let* ((`(,begin ,end ,table . ,more) (eglot-completion-at-point))
               (text (buffer-substring begin end))
               (all (completion-all-completions text table nil (length text)
                                                (completion-metadata text table nil)))
               (chosen (car (cl-member name all :test #'string-prefix-p))))
    (should chosen)
    (delete-region begin end)
    (insert chosen)
    (funcall (plist-get more :exit-function) chosen 'finished)
    (buffer-substring (line-beginning-position) (line-end-position))))

(defun rawr-fix ()
  (eglot-code-actions (point) (point) "quickfix" t))

(ert-deftest rawr-configuration ()
  (rawr-open "rawr.toml")
  (should (eq major-mode 'rawr-toml-mode))
  (rawr-wait-for-problem "cannot be `atuo`")
  (goto-char (point-min))
  (search-forward "atu")
  (should (string-match-p "Default: `\"auto\"`" (rawr-hover)))
  (rawr-fix)
  (should (string-match-p "mode = \"auto\"" (buffer-string)))
  (rawr-wait "end of the problem" (lambda () (null (rawr-problems))))
  (should (string-prefix-p "packet_author" (rawr-complete "packet_au" "packet_author"))))

(ert-deftest rawr-prompt ()
  (rawr-open "auto-compact/heads-up.md")
  (should (eq major-mode 'rawr-prompt-mode))
  (rawr-wait-for-problem "unknown placeholder `{raeson}`")
  (goto-char (point-min))
  (search-forward "{rae")
  (should (member "Compare with the shipped text"
                  (mapcar (lambda (of) (plist-get of :title)) (eglot-code-actions (point) (point)))))
  (rawr-fix)
  (should (string-match-p "because {reason}" (buffer-string)))
  (goto-char (point-min))
  (search-forward "{rea")
  (should (string-match-p "why the compaction comes now" (rawr-hover)))
  (should (equal "{threadId}" (rawr-complete "{thr" "{threadId}"))))

(ert-deftest rawr-leaves-other-files-alone ()
  (dolist (file '(("notes.md" . markdown-mode) ("other.toml" . conf-toml-mode)))
    (find-file (rawr-file (car file)))
    (run-hooks 'post-command-hook)
    (should (eq major-mode (cdr file)))
    (should-not (eglot-managed-p))))

;;; test.el ends here
