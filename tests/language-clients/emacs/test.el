;;; test.el --- Emacs with the configuration of its page -*- lexical-binding: t -*-

(require 'ert)
(require 'cl-lib)
(require 'flymake)

(setq eglot-confirm-server-initiated-edits nil
      eglot-confirm-server-edits nil
      eglot-sync-connect 30)

;; A batch is never idle, and eglot sends changes when Emacs is.
(defun rawr-idle ()
  (mapc #'timer-event-handler (copy-sequence timer-idle-list)))

(defun rawr-wait (what happened)
  "Wait until HAPPENED returns non-nil and return its value. WHAT names it."
  (let (value)
    (with-timeout (30 (ert-fail (format "no %s within 30 seconds" what)))
      (while (not (setq value (funcall happened)))
        (rawr-idle)
        (accept-process-output nil 0.1)))
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
  (let ((answer (jsonrpc-request (eglot-current-server) :textDocument/hover
                                 (list :textDocument (list :uri (concat "file://" buffer-file-name))
                                       :position (list :line (1- (line-number-at-pos))
                                                       :character (- (point) (line-beginning-position)))))))
    (plist-get (plist-get answer :contents) :value)))

(defun rawr-complete (typed)
  "Type TYPED at the end of the buffer, complete it and return what that line is."
  (goto-char (point-max))
  (insert typed)
  (rawr-idle)
  (completion-at-point)
  (buffer-substring (line-beginning-position) (line-end-position)))

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
  (should (equal "packet_author" (string-trim-right (rawr-complete "packet_au") "[ =]+"))))

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
  (should (equal "{threadId}" (rawr-complete "{thr"))))

(ert-deftest rawr-leaves-other-files-alone ()
  (dolist (file '(("notes.md" . markdown-mode) ("other.toml" . conf-toml-mode)))
    (find-file (rawr-file (car file)))
    (run-hooks 'post-command-hook)
    (should (eq major-mode (cdr file)))
    (should-not (eglot-managed-p))))

;;; test.el ends here
